package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// LoadPair reads a certificate and its key from files.
func LoadPair(certificate, key string) (Pair, error) {
	var pair Pair
	var err error
	if pair.Certificate, err = os.ReadFile(certificate); err != nil {
		return Pair{}, fmt.Errorf("certificate: %w", err)
	}
	if pair.Key, err = os.ReadFile(key); err != nil {
		return Pair{}, fmt.Errorf("key of certificate %s: %w", certificate, err)
	}
	if _, err := pair.TLS(); err != nil {
		return Pair{}, fmt.Errorf("certificate %s: %w", certificate, err)
	}
	return pair, nil
}

// LoadBundle reads the CA certificates of a PEM file.
func LoadBundle(path string) ([]byte, *x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("CA bundle: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, nil, fmt.Errorf("CA bundle %s: no certificate found", path)
	}
	return data, pool, nil
}

// TLS returns the pair as a certificate for crypto/tls.
func (p Pair) TLS() (tls.Certificate, error) {
	return tls.X509KeyPair(p.Certificate, p.Key)
}

// leaf returns the first certificate of the pair.
func (p Pair) leaf() (*x509.Certificate, error) {
	pair, err := p.TLS()
	return pair.Leaf, err
}
