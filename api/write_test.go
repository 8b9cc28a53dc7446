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

// GetList waits until ctx is done, like a cache that lags behind.
func (s blockingStore) GetList(ctx context.Context, _ string, _ storage.ListOptions) (*storage.Page, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
}

// newBlockingTestServer returns a server for configmaps on a blockingStore.
func newBlockingTestServer(t *testing.T, create func()) *testServer {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: func(storage.Codec) storage.Interface { return blockingStore{create: create} }})
	i := slices.IndexFunc(kinds.Resources(feature.Default()), func(r *registry.Resource) bool { return r.Name == "configmaps" })
	if err := catalog.Add(kinds.Resources(feature.Default())[i]); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, logs: &bytes.Buffer{}}
	s.serve(Config{Catalog: catalog, Scheme: kinds.Scheme(), Logger: slog.New(slog.NewTextHandler(s.logs, nil)), MaxMutatingInFlight: 1})
	return s
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	newMap     = `{"metadata":{"name":"a"}}`
)

// The response to a write is sent at its deadline. The write counts as in flight until it ends, and
// a shutdown waits for it.
func TestWriteThatExceedsItsDeadline(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newBlockingTestServer(t, func() { close(entered); <-release })
	got := s.must(http.StatusGatewayTimeout, s.do("POST", configMaps+"?timeout=1s", newMap))
	const want = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: request did not complete within requested timeout - context deadline exceeded","reason":"Timeout","details":{},"code":504}` + "\n"
	if got.body != want || got.header.Get("Retry-After") != "" {
		t.Errorf("got %v %s\nwant %s", got.header, got.body, want)
	}
	<-entered
	s.must(http.StatusTooManyRequests, s.do("POST", configMaps, newMap))
	if open := s.api.OpenRequests(); len(open) != 1 || open[0].Verb != "create" {
		t.Errorf("open requests: %v", open)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.api.Shutdown(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a shutdown with a canceled context returned %v", err)
	}
	close(release)
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
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
