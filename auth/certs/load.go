package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File names of the serving certificate and its key in a certificate directory.
const (
	certificateFile = "apiserver.crt"
	keyFile         = "apiserver.key"
)

// LoadServing reads a certificate and its key from files.
func LoadServing(certificate, key string) (Pair, error) {
	var pair Pair
	var err error
	if pair.Certificate, err = os.ReadFile(certificate); err != nil {
		return Pair{}, fmt.Errorf("serving certificate: %w", err)
	}
	if pair.Key, err = os.ReadFile(key); err != nil {
		return Pair{}, fmt.Errorf("serving certificate: %w", err)
	}
	if _, err := pair.TLS(); err != nil {
		return Pair{}, fmt.Errorf("serving certificate %s: %w", certificate, err)
	}
	return pair, nil
}

// LoadOrCreate reads apiserver.crt and apiserver.key from a directory. If both are absent, it
// writes the pair that issue returns. It creates the directory with mode 0700.
func LoadOrCreate(dir string, issue func() (Pair, error)) (Pair, error) {
	certificate, key := filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile)
	if !absent(certificate) || !absent(key) {
		return LoadServing(certificate, key)
	}
	pair, err := issue()
	if err != nil {
		return Pair{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Pair{}, fmt.Errorf("certificate directory: %w", err)
	}
	// The key is written first, so that a certificate always has a key.
	if err := os.WriteFile(key, pair.Key, 0o600); err != nil {
		return Pair{}, fmt.Errorf("serving certificate: %w", err)
	}
	if err := os.WriteFile(certificate, pair.Certificate, 0o644); err != nil {
		return Pair{}, fmt.Errorf("serving certificate: %w", errors.Join(err, os.Remove(key)))
	}
	return pair, nil
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// LoadPool reads the CA certificates of a PEM file.
func LoadPool(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("client CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("client CA %s: no certificate found", path)
	}
	return pool, nil
}

// TLS returns the pair as a certificate for crypto/tls.
func (p Pair) TLS() (tls.Certificate, error) {
	return tls.X509KeyPair(p.Certificate, p.Key)
}
