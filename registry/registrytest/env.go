package registrytest

import (
	"context"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// Env is a catalog on an etcd of its own, which ends with the test.
type Env struct {
	*testing.T
	Catalog *registry.Catalog
	// Client is a client of the etcd behind the catalog.
	Client *clientv3.Client
	// EndTransactions ends the pending transactions. No transaction may begin after it.
	EndTransactions func()
}

// New returns an environment with resources, or with those of Resources if none are given, and
// the admission steps of chain.
func New(t *testing.T, chain registry.Chain, resources ...*registry.Resource) *Env {
	t.Helper()
	return start(t, registry.CatalogConfig{Admission: chain}, resources)
}

// NewHooked returns an environment like New, with hooks for one resource, such as
// "deployments.apps".
func NewHooked(t *testing.T, chain registry.Chain, resource string, hooks registry.Hooks, resources ...*registry.Resource) *Env {
	t.Helper()
	return start(t, registry.CatalogConfig{
		Admission: chain, Hooks: map[schema.GroupResource]registry.Hooks{schema.ParseGroupResource(resource): hooks},
	}, resources)
}

// NewManaged returns an environment that tracks field managers, with resources like New.
func NewManaged(t *testing.T, types managedfields.TypeConverter, resources ...*registry.Resource) *Env {
	t.Helper()
	return start(t, registry.CatalogConfig{Types: types}, resources)
}

// NewCached returns an environment with a cache.
func NewCached(t *testing.T, cache registry.Cache) *Env {
	t.Helper()
	return start(t, registry.CatalogConfig{Cache: cache}, nil)
}

func start(t *testing.T, config registry.CatalogConfig, resources []*registry.Resource) *Env {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(resources) == 0 {
		resources = Resources()
	}
	config.Storage, config.Wrap = backend.Store, Frozen(t)
	catalog := registry.NewCatalog(config)
	if err := catalog.Add(resources...); err != nil {
		t.Fatal(err)
	}
	return &Env{T: t, Catalog: catalog, Client: server.Client(), EndTransactions: run(t, catalog)}
}

// run runs a catalog until the test ends or stop is called.
func run(t *testing.T, catalog *registry.Catalog) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := catalog.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// With returns the same environment for a subtest.
func (e *Env) With(t *testing.T) *Env {
	return &Env{T: t, Catalog: e.Catalog, Client: e.Client, EndTransactions: e.EndTransactions}
}

// Store returns the store of a resource such as "pods" or "deployments.apps".
func (e *Env) Store(resource string) *registry.Store {
	e.Helper()
	store, ok := e.Catalog.Snapshot().Store(schema.ParseGroupResource(resource))
	if !ok {
		e.Fatalf("no resource %s in the catalog", resource)
	}
	return store
}

// Served returns the implementation of a resource, stored or virtual, in its first version.
func (e *Env) Served(resource string) registry.Interface {
	e.Helper()
	snapshot, name := e.Catalog.Snapshot(), schema.ParseGroupResource(resource)
	for _, r := range snapshot.Resources() {
		if r.GroupResource() == name {
			served, _ := snapshot.Served(name.WithVersion(r.Versions[0].Name))
			return served
		}
	}
	e.Fatalf("no resource %s in the catalog", resource)
	return nil
}

// Revision returns the current revision of etcd.
func (e *Env) Revision() int64 {
	e.Helper()
	resp, err := e.Client.Get(e.Context(), "/", clientv3.WithCountOnly())
	if err != nil {
		e.Fatal(err)
	}
	return resp.Header.Revision
}

// Default sets the defaults of an object of the hub version, as decoding a request does.
func (e *Env) Default(resource string, obj runtime.Object) {
	e.Helper()
	e.Served(resource).Resource().Versions[0].SetDefaults(obj, e.Catalog.Now)
}

// Create creates an object with defaults in its own namespace. An error fails the test.
func (e *Env) Create(resource string, obj runtime.Object) runtime.Object {
	e.Helper()
	obj = obj.DeepCopyObject()
	e.Default(resource, obj)
	result, err := e.Served(resource).Create(e.Context(), registry.CreateRequest{
		Namespace: Meta(obj).GetNamespace(),
		Object:    obj,
	})
	if err != nil {
		e.Fatal(err)
	}
	return Object(result.Entry)
}

// Get returns an object. An error fails the test.
func (e *Env) Get(resource, namespace, name string) runtime.Object {
	e.Helper()
	entry, err := e.Served(resource).Get(e.Context(), namespace, name, "")
	if err != nil {
		e.Fatal(err)
	}
	obj, err := entry.Object()
	if err != nil {
		e.Fatal(err)
	}
	return obj
}
