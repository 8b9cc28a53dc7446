package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/golang-jwt/jwt/v5"

	"github.com/miniapi/miniapi/auth/certs"
)

// NewKey generates a key that signs tokens.
func NewKey() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// loadOrCreateKey returns the key in sa.key of a directory.
func loadOrCreateKey(dir certs.Directory) (crypto.Signer, error) {
	encoded, err := dir.Secret("sa.key", func() ([]byte, error) {
		key, err := NewKey()
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
	})
	if err != nil {
		return nil, err
	}
	return parseSigningKey("sa.key", encoded)
}

// LoadSigningKey reads the first private key, RSA or ECDSA, of a PEM file.
func LoadSigningKey(path string) (crypto.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	return parseSigningKey(path, data)
}

func parseSigningKey(path string, data []byte) (crypto.Signer, error) {
	keys, err := parseKeys(path, data)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
	return nil, fmt.Errorf("%s has no RSA or ECDSA private key", path)
}

// LoadVerificationKeys reads all keys of a PEM file: public keys, certificates, and the public part
// of private keys.
func LoadVerificationKeys(path string) ([]crypto.PublicKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	keys, err := parseKeys(path, data)
	if err != nil {
		return nil, err
	}
	public := make([]crypto.PublicKey, len(keys))
	for i, key := range keys {
		public[i] = key
		if signer, ok := key.(crypto.Signer); ok {
			public[i] = signer.Public()
		}
	}
	return public, nil
}

func parseKeys(path string, data []byte) ([]any, error) {
	var keys []any
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "EC PARAMETERS" { // precedes some private keys
			continue
		}
		key, err := parseKey(block)
		if err != nil {
			return nil, fmt.Errorf("service account key %s: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("service account key %s: no PEM block found", path)
	}
	return keys, nil
}

func parseKey(block *pem.Block) (any, error) {
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "CERTIFICATE":
		var certificate *x509.Certificate
		if certificate, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = certificate.PublicKey
		}
	default:
		return nil, fmt.Errorf("PEM block type %q is not a key", block.Type)
	}
	if err != nil {
		return nil, err
	}
	switch key.(type) {
	case *rsa.PrivateKey, *ecdsa.PrivateKey, *rsa.PublicKey, *ecdsa.PublicKey:
		return key, nil
	default:
		return nil, fmt.Errorf("unsupported key type %T, use RSA or ECDSA", key)
	}
}

// signingMethodOf returns the signing algorithm of a key.
func signingMethodOf(public crypto.PublicKey) (jwt.SigningMethod, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return jwt.SigningMethodRS256, nil
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return jwt.SigningMethodES256, nil
		case elliptic.P384():
			return jwt.SigningMethodES384, nil
		case elliptic.P521():
			return jwt.SigningMethodES512, nil
		}
		return nil, errors.New("unknown elliptic curve")
	default:
		return nil, fmt.Errorf("unsupported key type %T", public)
	}
}

// keyID returns the id of a key in the tokens that it signs.
func keyID(public crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}
