package listener

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve returns a listener that serves plain HTTP and HTTPS, and a client for both.
func serve(t *testing.T, handler http.Handler) (*Listener, *http.Client) {
	t.Helper()
	return serveWith(t, Config{}, handler)
}

// serveWith returns a listener with the limits of a configuration.
func serveWith(t *testing.T, config Config, handler http.Handler) (*Listener, *http.Client) {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	certified.Close()
	config.Plain, config.Secure, config.Logger = "127.0.0.1:0", "127.0.0.1:0", slog.New(slog.DiscardHandler)
	l, err := Open(t.Context(), config)
	check(t, err)
	served := make(chan error, 1)
	go func() { // ends with Close
		served <- l.Serve(handler, &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		check(t, l.Close())
		check(t, <-served)
	})
	return l, &http.Client{Transport: transport}
}

// A response whose handler has returned reaches its client before Drain returns.
func TestDrainSendsResponses(t *testing.T) {
	const body = 40_000 // more than the buffers of net/http
	for proto, address := range map[string]func(*Listener) string{
		"HTTP/1.1": (*Listener).PlainURL, "HTTP/2.0": (*Listener).URL,
	} {
		t.Run(proto, func(t *testing.T) {
			for attempt := range 50 { // the order of the goroutines differs
				entered, release := make(chan struct{}), make(chan struct{})
				l, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					close(entered)
					<-release
					_, _ = io.WriteString(w, strings.Repeat("a", body))
				}))
				answer := make(chan error, 1)
				go func() { // ends with the request
					answer <- get(client, address(l), proto, body)
				}()
				<-entered
				l.DisableKeepAlive()
				close(release)
				check(t, l.Drain(t.Context()))
				check(t, l.Close())
				if err := <-answer; err != nil {
					t.Fatalf("attempt %d: %v", attempt, err)
				}
			}
		})
	}
}

// get returns an error unless the whole response arrives.
func get(client *http.Client, url, proto string, length int) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || len(data) != length || response.Proto != proto {
		return fmt.Errorf("%s: %d bytes: %w", response.Proto, len(data), err)
	}
	return nil
}

func TestDrainIgnoresOtherConnections(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, url := range map[string]func(*Listener) string{"plain": (*Listener).PlainURL, "secure": (*Listener).URL} {
		t.Run(name, func(t *testing.T) {
			l, client := serve(t, handler)
			dial := func() net.Conn {
				conn, err := net.Dial("tcp", strings.Split(url(l), "//")[1])
				check(t, err)
				t.Cleanup(func() { conn.Close() })
				return conn
			}
			_, err := io.WriteString(dial(), "GET / HTTP/1.1\r\nHost:") // also half of a TLS handshake
			check(t, err)
			dial() // sends nothing
			response, err := client.Get(url(l))
			check(t, err)
			check(t, response.Body.Close()) // leaves an idle connection
			l.DisableKeepAlive()
			check(t, l.Drain(t.Context()))
		})
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	l, client := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	}))
	answer := make(chan error, 1)
	go func() { // ends with the request
		answer <- get(client, l.PlainURL(), "HTTP/1.1", 0)
	}()
	<-entered
	l.DisableKeepAlive()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := l.Drain(canceled)
	close(release)
	check(t, <-answer)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "connections with unsent responses: 1") {
		t.Errorf("error %v", err)
	}
}
