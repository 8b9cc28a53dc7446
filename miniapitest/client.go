package miniapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// host is a host that serves a unix socket.
type host struct {
	socket string
	client *http.Client
}

func newHost(socket string) *host {
	return &host{socket: socket, client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true, // leaves no goroutine behind
	}}}
}

// errNotServed is returned if no host serves the socket, or one that is ending.
var errNotServed = errors.New("no host serves the socket")

// call sends a request and decodes the answer into a value, unless that is nil.
func (h *host) call(ctx context.Context, method, path string, body, into any) error {
	response, err := h.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// send sends a request. The caller closes the body of the answer. An answer with an error code is
// an error.
func (h *host) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://host"+path, &data)
	if err != nil {
		return nil, err
	}
	response, err := h.client.Do(request)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		err = fmt.Errorf("%w: %w", errNotServed, err)
	}
	if err != nil {
		return nil, h.explain(err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	var answer struct{ Error string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the host of %s answered %s: is its miniapi a newer release than this module?", h.socket, response.Status)
	}
	if response.StatusCode == http.StatusServiceUnavailable {
		return nil, fmt.Errorf("%w: %s", errNotServed, answer.Error)
	}
	return nil, errors.New(answer.Error)
}

// startServer starts a server and returns the stream of its events.
func (h *host) startServer(options serverOptions) (*eventStream, error) {
	response, err := h.send(context.Background(), http.MethodPost, "/v1/servers", options)
	if err != nil {
		return nil, err
	}
	return &eventStream{body: response.Body, decoder: json.NewDecoder(response.Body)}, nil
}

// eventStream is the lease of a server: the host stops the server when the stream is closed.
type eventStream struct {
	body    io.ReadCloser
	decoder *json.Decoder
}

func (s *eventStream) next() (event, error) {
	var e event
	err := s.decoder.Decode(&e)
	return e, err
}

func (s *eventStream) close() { _ = s.body.Close() }

// explain adds the last lines of the host's log to an error of the connection, which shows that
// the host has ended. It returns errNoServer for nil.
func (h *host) explain(err error) error {
	if err == nil {
		return errNoServer
	}
	data, readErr := os.ReadFile(logFile(h.socket))
	if readErr != nil || len(data) == 0 {
		return fmt.Errorf("the host of %s does not answer: %w", h.socket, err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) > 20 {
		lines = lines[len(lines)-20:]
	}
	return fmt.Errorf("the host of %s does not answer: %w; the last lines of its log:\n\t%s", h.socket, err, strings.Join(lines, "\n\t"))
}
