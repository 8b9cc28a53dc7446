package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/miniapi/miniapi/internal/host"
)

// env is a running host and a client of its control API.
type env struct {
	*testing.T
	client *http.Client
	token  string
	ended  chan error // receives the result of Run
	stop   context.CancelFunc
}

// newEnv runs a host on a unix socket until the end of the test.
func newEnv(t *testing.T, config host.Config) *env {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "host.sock")
	listener, release, err := host.ListenUnix(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &env{T: t, token: config.Token, ended: make(chan error, 1), stop: cancel}
	e.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	done := make(chan struct{})
	go func() { // ends in the cleanup
		defer close(done)
		e.ended <- host.New(config).Run(ctx, listener)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// send sends a request. The caller closes the body of the answer.
func (e *env) send(ctx context.Context, method, path string, body any) *http.Response {
	e.Helper()
	data, err := json.Marshal(body)
	if text, ok := body.(string); ok {
		data = []byte(text)
	}
	if err != nil {
		e.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://host"+path, bytes.NewReader(data))
	if err != nil {
		e.Fatal(err)
	}
	if e.token != "" {
		request.Header.Set("Authorization", "Bearer "+e.token)
	}
	response, err := e.client.Do(request)
	if err != nil {
		e.Fatal(err)
	}
	return response
}

// call sends a request, checks the status code of the answer and decodes its body into a value.
func (e *env) call(method, path string, body any, code int, into any) {
	e.Helper()
	response := e.send(e.Context(), method, path, body)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		e.Fatal(err)
	}
	if response.StatusCode != code {
		e.Fatalf("%s %s: %s: %s", method, path, response.Status, data)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			e.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
}

// create starts a server.
func (e *env) create(options host.ServerOptions) host.Server {
	e.Helper()
	var server host.Server
	e.call("POST", "/v1/servers", options, http.StatusCreated, &server)
	return server
}

// ids returns the IDs of the servers of the host.
func (e *env) ids() []string {
	e.Helper()
	var servers []host.Server
	e.call("GET", "/v1/servers", nil, http.StatusOK, &servers)
	ids := []string{}
	for _, server := range servers {
		ids = append(ids, server.ID)
	}
	return ids
}

// awaitNoServer returns when the host has no server.
func (e *env) awaitNoServer() {
	e.Helper()
	for len(e.ids()) > 0 {
		if e.Context().Err() != nil {
			e.Fatal("the host still has a server")
		}
		time.Sleep(time.Millisecond)
	}
}

// events are the events of a server that ends with its connection.
type events struct {
	*env
	decoder *json.Decoder
	close   context.CancelFunc
}

// createLeased starts a server with LeaseConnection.
func (e *env) createLeased(options host.ServerOptions) (host.Server, *events) {
	e.Helper()
	options.Lease = host.LeaseConnection
	ctx, cancel := context.WithCancel(context.Background())
	response := e.send(ctx, "POST", "/v1/servers", options)
	e.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
	})
	stream := &events{env: e, decoder: json.NewDecoder(response.Body), close: cancel}
	first := stream.next()
	if first.Server == nil {
		e.Fatalf("%s: %+v", response.Status, first)
	}
	return *first.Server, stream
}

func (e *events) next() host.Event {
	e.Helper()
	var event host.Event
	if err := e.decoder.Decode(&event); err != nil {
		e.Fatal(err)
	}
	return event
}
