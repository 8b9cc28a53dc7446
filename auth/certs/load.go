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

// The names of a serving certificate and its key in a directory.
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

// LoadOrMake reads apiserver.crt and apiserver.key from a directory. If both are
// absent, it writes the pair that issue returns; a directory that it creates can
// be entered by its owner only.
func LoadOrMake(dir string, issue func() (Pair, error)) (Pair, error) {
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
	// The key comes first: a certificate without one would be half a pair.
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

// LoadPool reads the certificates of the CAs that a file holds.
func LoadPool(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("client CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("client CA %s: there is no certificate in it", path)
	}
	return pool, nil
}

// TLS returns the pair as a listener needs it.
func (p Pair) TLS() (tls.Certificate, error) {
	return tls.X509KeyPair(p.Certificate, p.Key)
}
