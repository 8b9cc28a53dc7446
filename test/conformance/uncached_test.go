package conformance

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// newUncachedReplay replays to a server of the built-in kinds without a watch
// cache, which answers every read from etcd.
func newUncachedReplay(t *testing.T, _ string) *replay {
	t.Helper()
	member, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := member.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	backend, err := etcd.New(etcd.Config{Client: member.Client(), LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store})
	if err := catalog.Add(kinds.Resources(feature.Default())...); err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{Catalog: catalog, Scheme: kinds.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler.Handler())
	t.Cleanup(func() {
		if err := handler.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return &replay{t: t, url: server.URL, etcd: member.Client(), client: server.Client()}
}
