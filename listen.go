package miniapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// listen comes first: a busy port is found before anything is started, and
// the bootstrap objects need the port's number.
func (s *Server) listen(ctx context.Context) error {
	var err error
	if s.config.Listen != "" {
		s.plain, err = listenOn(ctx, s.config.Listen)
	}
	if err == nil && s.config.Secure != nil {
		s.tls, err = listenOn(ctx, s.config.Secure.Listen)
	}
	return err
}

func listenOn(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return listener, nil
}

// prepareTLS reads or makes what a secure listener needs.
func (s *Server) prepareTLS(context.Context) error {
	if s.config.Secure == nil {
		return nil
	}
	ranges, err := parseServiceRanges(s.config.ServiceClusterIPRange)
	if err != nil {
		return err
	}
	s.secure, err = newSecureSide(s.config.Secure, ranges[0].Addr().Next(), s.storeOf)
	return err
}

// main is the listener that URL names: the secure one where there is one.
func (s *Server) main() net.Listener {
	if s.tls != nil {
		return s.tls
	}
	return s.plain
}

func (s *Server) buildHTTP() error {
	s.conns = newConnections()
	s.http = &http.Server{
		Handler:           s.api.Handler(),
		ConnState:         s.conns.track,
		ReadHeaderTimeout: 32 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          errorLog(s.config.Logger),
	}
	if s.secure == nil {
		return nil
	}
	var err error
	s.http.TLSConfig, err = s.secure.tlsConfig()
	return err
}

// served tells how a listener ended.
func served(listener net.Listener, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", listener.Addr(), err)
}

// URL is where the server answers, such as http://127.0.0.1:8080; with
// Config.Secure the address of that, such as https://127.0.0.1:6443.
func (s *Server) URL() string {
	if s.tls != nil {
		return "https://" + reachable(s.tls)
	}
	return s.PlainURL()
}

// PlainURL is where the server speaks plain HTTP, "" if it does not.
func (s *Server) PlainURL() string {
	if s.plain == nil {
		return ""
	}
	return "http://" + reachable(s.plain)
}

func reachable(listener net.Listener) string {
	addr := listener.Addr().(*net.TCPAddr).AddrPort()
	if addr.Addr().IsUnspecified() { // listens everywhere, and so here too
		addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), addr.Port())
	}
	return addr.String()
}
