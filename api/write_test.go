package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// blockingStore is a store whose Create ignores its context.
type blockingStore struct {
	storage.Interface
	create func()
}

func (s blockingStore) Versioner() versioner.Versioner { return versioner.APIObjectVersioner{} }

func (s blockingStore) Create(context.Context, string, runtime.Object, storage.CreateOptions) (*storage.Entry, error) {
	s.create()
	return nil, errors.New("not created")
}

// Count returns no objects, for the metrics.
func (s blockingStore) Count(context.Context, string) (int64, error) { return 0, nil }

// GetList waits until ctx is done, like a cache that lags behind.
func (s blockingStore) GetList(ctx context.Context, _ string, _ storage.ListOptions) (*storage.Page, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
}

// newBlockingTestServer returns a server for configmaps on a blockingStore.
func newBlockingTestServer(t *testing.T, create func()) *testServer {
	t.Helper()
	s := &testServer{t: t, logs: &bytes.Buffer{}}
	config := newBlockingConfig(t, create)
	config.Logger = slog.New(slog.NewTextHandler(s.logs, nil))
	s.serve(config)
	return s
}

// newBlockingConfig returns the configuration of such a server, for one write at a time.
func newBlockingConfig(t *testing.T, create func()) Config {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: func(storage.Codec) storage.Interface { return blockingStore{create: create} }})
	i := slices.IndexFunc(kinds.Resources(feature.Default()), func(r *registry.Resource) bool { return r.Name == "configmaps" })
	if err := catalog.Add(kinds.Resources(feature.Default())[i]); err != nil {
		t.Fatal(err)
	}
	return Config{Catalog: catalog, Scheme: kinds.Scheme(), MaxMutatingInFlight: 1}
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	newMap     = `{"metadata":{"name":"a"}}`
)

// The response to a write is sent at its deadline. The write counts as in flight until it ends, and
// a shutdown waits for it.
func TestWriteThatExceedsItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the deadline is not before the write begins
		release := make(chan struct{})
		s, err := New(newBlockingConfig(t, func() { <-release }))
		if err != nil {
			t.Fatal(err)
		}
		got := post(s, configMaps+"?timeout=1s", newMap)
		const want = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: request did not complete within requested timeout - context deadline exceeded","reason":"Timeout","details":{},"code":504}` + "\n"
		if got.Code != http.StatusGatewayTimeout || got.Body.String() != want || got.Header().Get("Retry-After") != "" {
			t.Errorf("got %d %v %s\nwant %s", got.Code, got.Header(), got.Body, want)
		}
		if got := post(s, configMaps, newMap); got.Code != http.StatusTooManyRequests {
			t.Errorf("a second write: %d %s", got.Code, got.Body)
		}
		if got := post(s, "/version", ""); got.Code != http.StatusTooManyRequests {
			t.Errorf("a write of no resource: %d %s", got.Code, got.Body)
		}
		if open := s.OpenRequests(); len(open) != 1 || open[0].Verb != "create" {
			t.Errorf("open requests: %v", open)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Shutdown(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("a shutdown with a canceled context returned %v", err)
		}
		close(release)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		text := httptest.NewRecorder()
		s.metrics.Handler().ServeHTTP(text, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for _, line := range []string{
			`apiserver_request_terminations_total{code="504",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
			`apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
			`apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="",scope="",subresource="/version",verb="POST",version=""} 1`,
		} {
			if !strings.Contains(text.Body.String(), line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
	})
}

func post(s *Server, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w
}

func TestPanicOfWrite(t *testing.T) {
	s := newBlockingTestServer(t, func() { panic("out of order") })
	s.must(http.StatusInternalServerError, s.do("POST", configMaps, newMap))
	if text := s.logs.String(); !strings.Contains(text, "out of order") || !strings.Contains(text, "blockingStore.Create") {
		t.Errorf("logged %s", text)
	}
}

// A request that the client has canceled is not logged as an error.
func TestCanceledListIsNotLogged(t *testing.T) {
	s := newBlockingTestServer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", configMaps, nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.api.Handler().ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		t.Errorf("a canceled list returned %s", w.Body)
	}
	if strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("logged %s", s.logs)
	}
}
