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
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// stubbornStore is a store whose Create does not look at its context.
type stubbornStore struct {
	storage.Interface
	create func()
}

func (s stubbornStore) Versioner() versioner.Versioner { return versioner.APIObjectVersioner{} }

func (s stubbornStore) Create(context.Context, string, runtime.Object, storage.CreateOptions) (*storage.Entry, error) {
	s.create()
	return nil, errors.New("created nothing")
}

// GetList waits for the end of ctx, as for a cache that lags behind.
func (s stubbornStore) GetList(ctx context.Context, _ string, _ storage.ListOptions) (*storage.Page, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
}

// newStubbornStack serves configmaps.
func newStubbornStack(t *testing.T, create func()) *stack {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: func(storage.Codec) storage.Interface { return stubbornStore{create: create} }})
	i := slices.IndexFunc(kinds.Resources(), func(r *registry.Resource) bool { return r.Name == "configmaps" })
	if err := catalog.Add(kinds.Resources()[i]); err != nil {
		t.Fatal(err)
	}
	s := &stack{t: t, logs: &bytes.Buffer{}}
	s.serve(Config{Catalog: catalog, Scheme: kinds.Scheme(), Logger: slog.New(slog.NewTextHandler(s.logs, nil)), MaxMutatingInFlight: 1})
	return s
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	newMap     = `{"metadata":{"name":"a"}}`
)

// A write that does not end by its deadline is answered, counts as in flight
// until it ends, and holds up a shutdown for as long as the caller allows.
func TestWritesAreAnsweredAtTheirDeadline(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newStubbornStack(t, func() { close(entered); <-release })
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
		t.Errorf("a shutdown without patience returned %v", err)
	}
	close(release)
	if err := s.api.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPanicsOfWritesAreAnsweredAndLogged(t *testing.T) {
	s := newStubbornStack(t, func() { panic("out of order") })
	s.must(http.StatusInternalServerError, s.do("POST", configMaps, newMap))
	if text := s.logs.String(); !strings.Contains(text, "out of order") || !strings.Contains(text, "stubbornStore.Create") {
		t.Errorf("logged %s", text)
	}
}

// A client that goes away is not an error of the server.
func TestCancelledListsAreNotLogged(t *testing.T) {
	s := newStubbornStack(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", configMaps, nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.api.Handler().ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		t.Errorf("a cancelled list was answered: %s", w.Body)
	}
	if strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("logged %s", s.logs)
	}
}
