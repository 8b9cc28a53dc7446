package certs

import (
	"crypto/tls"
	"sync"
)

// FrontProxy holds the client certificate by which an API server identifies itself to the servers
// of APIServices, and the CA that signed it. Both are created on first use. Safe for concurrent
// use.
type FrontProxy struct {
	load func() (*frontProxy, error)
}

type frontProxy struct {
	ca          []byte // PEM
	certificate tls.Certificate
}

// NewFrontProxy returns a FrontProxy with a CA of its own.
func NewFrontProxy() *FrontProxy { return &FrontProxy{sync.OnceValues(issueFrontProxy)} }

func issueFrontProxy() (*frontProxy, error) {
	authority, err := NewAuthority("front-proxy-ca")
	if err != nil {
		return nil, err
	}
	pair, err := authority.IssueClient("front-proxy-client")
	if err != nil {
		return nil, err
	}
	certificate, err := pair.TLS()
	return &frontProxy{authority.CertificatePEM(), certificate}, err
}

// CA returns the CA certificate in PEM.
func (f *FrontProxy) CA() ([]byte, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	return loaded.ca, nil
}

// Certificate returns the client certificate.
func (f *FrontProxy) Certificate() (*tls.Certificate, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	return &loaded.certificate, nil
}
