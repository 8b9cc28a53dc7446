package api

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// testServer is a Server with its own embedded etcd.
type testServer struct {
	t      *testing.T
	etcd   *clientv3.Client
	api    *Server
	http   *httptest.Server
	client *http.Client
	logs   *bytes.Buffer
}

// newTestServer starts a server with the built-in kinds and the namespace default. configure may be
// nil.
func newTestServer(t *testing.T, configure func(*Config)) *testServer {
	t.Helper()
	return newAuthorizedTestServer(t, nil, configure)
}

// newAuthorizedTestServer is newTestServer with an authorizer.
func newAuthorizedTestServer(t *testing.T, authorizer registry.Authorizer, configure func(*Config)) *testServer {
	t.Helper()
	member, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := member.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	backend, err := etcd.New(etcd.Config{Client: member.Client(), LocalReads: true, ProgressInterval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store, Authorizer: authorizer})
	if err := catalog.Add(kinds.Resources(feature.Default())...); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, etcd: member.Client(), logs: &bytes.Buffer{}}
	config := Config{Catalog: catalog, Scheme: kinds.Scheme(), Logger: slog.New(slog.NewTextHandler(s.logs, nil))}
	if configure != nil {
		configure(&config)
	}
	s.serve(config)
	s.must(http.StatusCreated, s.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"default"}}`))
	return s
}

func (s *testServer) serve(config Config) {
	s.t.Helper()
	var err error
	if s.api, err = New(config); err != nil {
		s.t.Fatal(err)
	}
	s.http = httptest.NewServer(s.api.Handler())
	s.client = s.http.Client()
	s.t.Cleanup(func() {
		if err := s.api.Shutdown(context.Background()); err != nil {
			s.t.Error(err)
		}
		s.http.Close()
	})
}

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request and reads the response. A header is "Name: value".
func (s *testServer) do(method, path, body string, headers ...string) reply {
	s.t.Helper()
	got, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// try is do for goroutines other than the test's.
func (s *testServer) try(method, path, body string, headers ...string) (reply, error) {
	res, err := s.send(method, path, body, headers...)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(data)}, err
}

// open sends a request. The caller must close the body of the response.
func (s *testServer) open(method, path, body string, headers ...string) *http.Response {
	s.t.Helper()
	res, err := s.send(method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *testServer) send(method, path, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "test/1.0")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	return s.client.Do(req)
}

func (s *testServer) must(status int, r reply) reply {
	s.t.Helper()
	if r.status != status {
		s.t.Fatalf("got %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// configMap creates a ConfigMap.
func (s *testServer) configMap(name, data string) {
	s.t.Helper()
	s.must(http.StatusCreated, s.do("POST", "/api/v1/namespaces/default/configmaps",
		`{"metadata":{"name":"`+name+`"},"data":{"k":"`+data+`"}}`))
}

// dial opens a raw connection to the server.
func (s *testServer) dial() net.Conn {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.http.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}
