package storagetest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"

	"github.com/miniapi/miniapi/storage/transform"
)

// Sealed returns a transformer that encrypts with AES-GCM and authenticates the etcd key: equal
// bytes are encrypted differently each time, and a value under another key cannot be decrypted.
func Sealed() (transform.Transformer, error) {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return sealed{aead}, nil
}

type sealed struct{ aead cipher.AEAD }

func (s sealed) ToStorage(_ context.Context, data []byte, key string) ([]byte, error) {
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce)
	return s.aead.Seal(nonce, nonce, data, []byte(key)), nil
}

func (s sealed) FromStorage(_ context.Context, data []byte, key string) (out []byte, stale bool, err error) {
	size := s.aead.NonceSize()
	if len(data) < size {
		return nil, false, errors.New("sealed value is too short")
	}
	out, err = s.aead.Open(nil, data[:size], data[size:], []byte(key))
	return out, false, err
}
