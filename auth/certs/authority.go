package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// lifetime is the validity of certificates, authorityLifetime of the CAs that sign them.
	lifetime          = 365 * 24 * time.Hour
	authorityLifetime = 10 * lifetime
	// backdate allows for clocks that are behind.
	backdate = time.Hour
)

// Authority is a certificate authority. It is safe for concurrent use.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// Pair is a certificate and its key in PEM. The certificate is followed by its chain.
type Pair struct {
	Certificate, Key []byte
}

// NewAuthority creates a CA in memory.
func NewAuthority(commonName string) (*Authority, error) {
	return Directory("").Authority("", commonName)
}

func newAuthorityPair(commonName string) (Pair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if err := complete(template, authorityLifetime); err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Pair{}, fmt.Errorf("create certificate authority %s: %w", commonName, err)
	}
	return newPair(encodeCertificate(der), key)
}

func parseAuthority(pair Pair) (*Authority, error) {
	parsed, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	key, ok := parsed.PrivateKey.(crypto.Signer)
	switch {
	case !ok || !parsed.Leaf.IsCA:
		return nil, errors.New("the certificate is not a CA")
	case time.Now().After(parsed.Leaf.NotAfter):
		return nil, fmt.Errorf("expired at %s: remove the certificate and its key", parsed.Leaf.NotAfter.Format(time.RFC3339))
	}
	return &Authority{certificate: parsed.Leaf, key: key}, nil
}

// CertificatePEM returns the certificate of the CA.
func (a *Authority) CertificatePEM() []byte { return encodeCertificate(a.certificate.Raw) }

// AddTo adds the CA to a pool.
func (a *Authority) AddTo(pool *x509.CertPool) { pool.AddCert(a.certificate) }

// IssueServing issues a serving certificate for names and addresses. The first one is the common
// name.
func (a *Authority) IssueServing(hosts ...string) (Pair, error) {
	template := &x509.Certificate{
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for i, host := range hosts {
		if i == 0 {
			template.Subject.CommonName = host
		}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(template)
}

// IssueClient issues a client certificate for a user with groups.
func (a *Authority) IssueClient(user string, groups ...string) (Pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if err := complete(template, lifetime); err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("create certificate of %s: %w", template.Subject.CommonName, err)
	}
	return newPair(append(encodeCertificate(der), a.CertificatePEM()...), key)
}

func newPair(certificate []byte, key *ecdsa.PrivateKey) (Pair, error) {
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: certificate,
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}, nil
}

// usable returns a function that reports whether a stored certificate can be served: it is valid
// now and for all hosts, or another CA has issued it, so that replacing it is not up to this
// server.
func (a *Authority) usable(hosts ...string) func(*x509.Certificate) bool {
	return func(certificate *x509.Certificate) bool {
		if certificate.CheckSignatureFrom(a.certificate) != nil {
			return true
		}
		now := time.Now()
		valid := now.After(certificate.NotBefore) && now.Before(certificate.NotAfter)
		for _, host := range hosts {
			valid = valid && certificate.VerifyHostname(host) == nil
		}
		return valid
	}
}

// complete sets the serial number and the validity.
func complete(template *x509.Certificate, lifetime time.Duration) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-backdate), now.Add(lifetime)
	return nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
