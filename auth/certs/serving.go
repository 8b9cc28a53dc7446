package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"
)

// ServingConfig selects the serving certificate of an API server.
type ServingConfig struct {
	// CertFile and KeyFile are read if they are set.
	CertFile, KeyFile string
	// Dir holds apiserver.crt and apiserver.key otherwise. A certificate of the authority that has
	// expired or is not valid for the names below is replaced.
	Dir Directory
	// Listen is the HOST:PORT of the server, ServiceIP the address of the Service
	// default/kubernetes. A new certificate is valid for both.
	Listen    string
	ServiceIP netip.Addr
	// Logger logs changes of CertFile and KeyFile.
	Logger *slog.Logger
}

// Serving is a serving certificate.
type Serving struct {
	Pair
	parsed tls.Certificate
}

// Serving loads the serving certificate, again when CertFile or KeyFile changes, or issues one.
func (a *Authority) Serving(config ServingConfig) (*Reloaded[*Serving], error) {
	load := func() (*Serving, error) {
		pair, err := a.servingPair(config)
		if err != nil {
			return nil, err
		}
		parsed, err := pair.TLS()
		return &Serving{pair, parsed}, err
	}
	if config.CertFile == "" {
		return Reload(load, config.Logger)
	}
	return Reload(load, config.Logger, config.CertFile, config.KeyFile)
}

// CheckTime returns an error if the certificate is not valid at a time.
func (s *Serving) CheckTime(now time.Time) error {
	leaf := s.parsed.Leaf
	switch {
	case leaf == nil:
		return nil
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the serving certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the serving certificate expired at %s: replace --tls-cert-file, or restart the server if it issued the certificate", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func (a *Authority) servingPair(config ServingConfig) (Pair, error) {
	if config.CertFile != "" {
		return LoadPair(config.CertFile, config.KeyFile)
	}
	hosts, err := config.hosts()
	if err != nil {
		return Pair{}, err
	}
	return config.Dir.pair("apiserver", a.usable(hosts...), func() (Pair, error) { return a.IssueServing(hosts...) })
}

// hosts returns the names and addresses under which clients may reach the server: those inside a
// cluster, those of this machine, and the host it listens on.
func (c ServingConfig) hosts() ([]string, error) {
	hosts := []string{
		"localhost", "127.0.0.1", "::1", c.ServiceIP.String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, err
	}
	if addr, err := netip.ParseAddr(host); host != "" && (err != nil || !addr.IsUnspecified()) {
		return append(hosts, host), nil
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses for the serving certificate: %w", err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok {
			hosts = append(hosts, network.IP.String())
		}
	}
	return hosts, nil
}

// ServerConfig returns the TLS settings of a port that serves the present certificate. Client
// certificates are requested but not verified, so that the API can answer an invalid one with 401
// instead of failing the handshake.
func ServerConfig(certificate *Reloaded[*Serving]) *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate.Get().parsed, nil },
		ClientAuth:     tls.RequestClientCert,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
	}
}

// ServerName returns the name that clients must verify the certificate for when they connect to
// host: a name in the certificate, or "" if the certificate is valid for host itself.
func (p Pair) ServerName(host string) string {
	block, _ := pem.Decode(p.Certificate)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || certificate.VerifyHostname(host) == nil {
		return ""
	}
	if len(certificate.DNSNames) > 0 {
		return certificate.DNSNames[0]
	}
	return certificate.Subject.CommonName
}
