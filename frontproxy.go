package miniapi

import (
	"crypto/tls"

	"github.com/miniapi/miniapi/auth/certs"
)

// frontProxy is what the servers of APIServices know this one by.
type frontProxy struct {
	authority   *certs.Authority
	certificate tls.Certificate
}

func newFrontProxy() (*frontProxy, error) {
	authority, err := certs.NewAuthority("front-proxy-ca")
	if err != nil {
		return nil, err
	}
	pair, err := authority.IssueClient("front-proxy-client")
	if err != nil {
		return nil, err
	}
	certificate, err := pair.TLS()
	return &frontProxy{authority, certificate}, err
}

// FrontProxyCA returns, in PEM, the CA of the client certificate that this server
// shows to the servers of APIServices: an extension API server believes the
// headers X-Remote-User, X-Remote-Group and X-Remote-Extra-* of whoever shows one
// (--requestheader-client-ca-file). It lasts as long as the server.
func (s *Server) FrontProxyCA() ([]byte, error) {
	front, err := s.front()
	if err != nil {
		return nil, err
	}
	return front.authority.CertificatePEM(), nil
}

// showFrontProxy is what a handshake with an extension API server asks for.
func (s *Server) showFrontProxy() (*tls.Certificate, error) {
	front, err := s.front()
	if err != nil {
		return nil, err
	}
	return &front.certificate, nil
}
