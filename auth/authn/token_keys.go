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
	public []crypto.PublicKey
}

// tokenKeys generates the signing key if none is configured.
func (c *ServiceAccountConfig) tokenKeys() (*tokenKeys, error) {
	keys := &tokenKeys{signer: c.SigningKey, public: c.VerificationKeys}
	var err error
	if keys.signer == nil {
		if keys.signer, err = NewKey(); err != nil {
			return nil, err
		}
	}
	if len(keys.public) == 0 {
		keys.public = []crypto.PublicKey{keys.signer.Public()}
	}
	if keys.method, err = signingMethodOf(keys.signer.Public()); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if keys.id, err = keyID(keys.signer.Public()); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	return keys, nil
}

// verification is a jwt.Keyfunc with all keys that verify tokens.
func (s *ServiceAccounts) verification(*jwt.Token) (any, error) {
	keys, err := s.keys()
	if err != nil {
		return nil, err
	}
	var set jwt.VerificationKeySet
	for _, key := range keys.public {
		set.Keys = append(set.Keys, key)
	}
	return set, nil
}
