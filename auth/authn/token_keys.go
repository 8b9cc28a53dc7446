package authn

import (
	"crypto"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// tokenKeys are the keys of service account tokens.
type tokenKeys struct {
	signer crypto.Signer
	method jwt.SigningMethod
	// id is the key ID in new tokens.
	id string
	// public verify tokens.
	public []publicKey
}

// publicKey is a key that verifies tokens, with its id in their headers.
type publicKey struct {
	id  string
	key crypto.PublicKey
}

// tokenKeys generates the signing key if none is configured.
func (c *ServiceAccountConfig) tokenKeys() (*tokenKeys, error) {
	keys := &tokenKeys{signer: c.SigningKey}
	var err error
	if keys.signer == nil {
		if keys.signer, err = NewKey(); err != nil {
			return nil, err
		}
	}
	if keys.method, err = signingMethodOf(keys.signer.Public()); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if keys.id, err = keyID(keys.signer.Public()); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if len(c.VerificationKeys) == 0 {
		keys.public = []publicKey{{keys.id, keys.signer.Public()}}
	}
	for _, key := range c.VerificationKeys {
		id, err := keyID(key)
		if err != nil {
			return nil, fmt.Errorf("verification key: %w", err)
		}
		keys.public = append(keys.public, publicKey{id, key})
	}
	return keys, nil
}
