package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"os"
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
}

// Serving loads the serving certificate, or issues one.
func (a *Authority) Serving(config ServingConfig) (Pair, error) {
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

// ServerConfig returns the TLS settings of a port that serves the certificate. Client certificates
// are requested but not verified, so that the API can answer an invalid one with 401 instead of
// failing the handshake.
func (p Pair) ServerConfig() (*tls.Config, error) {
	certificate, err := p.TLS()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
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
