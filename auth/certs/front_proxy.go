package certs

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
)

// The common names of the certificates that a FrontProxy creates, and the names of their files.
const (
	frontProxyCA   = "front-proxy-ca"
	frontProxyName = "front-proxy-client"
)

// FrontProxyConfig selects the certificate of a FrontProxy.
type FrontProxyConfig struct {
	// CertFile and KeyFile are read if they are set, again when they change.
	CertFile, KeyFile string
	// CAFile has the CA of CertFile.
	CAFile string
	// Dir holds front-proxy-client.crt and front-proxy-client.key otherwise, and the CA
	// front-proxy-ca.crt and front-proxy-ca.key.
	Dir Directory
	// Logger logs changes of the files.
	Logger *slog.Logger
}

// FrontProxy holds the client certificate by which an API server identifies itself to the servers
// of APIServices, and the CA that signed it. Both are loaded or created on first use. Safe for
// concurrent use.
type FrontProxy struct {
	load func() (*Reloaded[*frontProxy], error)
}

type frontProxy struct {
	ca          []byte // PEM
	certificate tls.Certificate
}

// NewFrontProxy returns a FrontProxy. Its methods return the errors of loading the files.
func NewFrontProxy(config FrontProxyConfig) *FrontProxy {
	return &FrontProxy{sync.OnceValues(config.load)}
}

func (c FrontProxyConfig) load() (*Reloaded[*frontProxy], error) {
	if c.CertFile == "" && c.Dir.external(frontProxyCA) {
		c.CAFile = c.Dir.path(frontProxyCA + ".crt")
		c.CertFile, c.KeyFile = c.Dir.path(frontProxyName+".crt"), c.Dir.path(frontProxyName+".key")
	}
	if c.CertFile != "" {
		return Reload(c.loadFiles, c.Logger, c.CertFile, c.KeyFile)
	}
	return Reload(c.create, c.Logger)
}

// create returns the certificate in Dir, or a new one.
func (c FrontProxyConfig) create() (*frontProxy, error) {
	authority, err := c.Dir.Authority(frontProxyCA, frontProxyCA)
	if err != nil {
		return nil, err
	}
	pair, err := c.Dir.pair(frontProxyName, authority.usable(), func() (Pair, error) {
		return authority.IssueClient(frontProxyName)
	})
	if err != nil {
		return nil, err
	}
	certificate, err := pair.TLS()
	return &frontProxy{authority.CertificatePEM(), certificate}, err
}

func (c FrontProxyConfig) loadFiles() (*frontProxy, error) {
	pair, err := LoadPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, err
	}
	loaded := &frontProxy{}
	if c.CAFile != "" {
		if loaded.ca, err = os.ReadFile(c.CAFile); err != nil {
			return nil, err
		}
	}
	loaded.certificate, err = pair.TLS()
	return loaded, err
}

// CA returns the CA certificates in PEM, nothing if CertFile is set without CAFile.
func (f *FrontProxy) CA() ([]byte, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	return loaded.Get().ca, nil
}

// Certificate returns the client certificate.
func (f *FrontProxy) Certificate() (*tls.Certificate, error) {
	loaded, err := f.load()
	if err != nil {
		return nil, err
	}
	return &loaded.Get().certificate, nil
}

// Name returns the common name of the client certificate.
func (f *FrontProxy) Name() (string, error) {
	loaded, err := f.load()
	if err != nil {
		return "", err
	}
	return loaded.Get().certificate.Leaf.Subject.CommonName, nil
}
