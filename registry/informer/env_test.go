package informer

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is an informer of the ConfigMaps of a catalog over an etcd, and the changes it reported.
type env struct {
	*registrytest.Env
	*Informer
	// maps is the store of another API server, which writes ConfigMaps also while they are not in
	// the catalog.
	maps *registry.Store
	// lost receives a value when the running informer has lost its watch, and when it cannot watch
	// again.
	lost    chan struct{}
	running bool

	mu      sync.Mutex // guards changes
	changes []string
}

// newEnv returns an informer that is not running. Its Handle records the changes unless edit
// replaces it.
func newEnv(t *testing.T, edit ...func(*Config)) *env {
	t.Helper()
	e := &env{Env: registrytest.New(t, nil), lost: make(chan struct{}, 1)}
	e.maps = otherServer(e.Env)
	config := Config{
		Resource: corev1.Resource("configmaps"),
		Lookup:   func(name schema.GroupResource) (*registry.Store, bool) { return e.Catalog.Snapshot().Store(name) },
		Handle:   func(_ context.Context, change Change) { e.record(change) },
		Logger:   slog.New(lossHandler{Handler: slog.DiscardHandler, lost: e.lost}),
	}
	for _, edit := range edit {
		edit(&config)
	}
	e.Informer = New(config)
	return e
}

// lossHandler reports each warning of an informer, which is the loss of its watch.
type lossHandler struct {
	slog.Handler
	lost chan<- struct{}
}

// Enabled implements slog.Handler.
func (lossHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h lossHandler) Handle(context.Context, slog.Record) error {
	select {
	case h.lost <- struct{}{}:
	default: // the last loss was not read
	}
	return nil
}

// otherServer returns the store of the ConfigMaps in another catalog over the same etcd.
func otherServer(e *registrytest.Env) *registry.Store {
	e.Helper()
	backend, err := etcd.New(etcd.Config{Client: e.Client, LocalReads: true})
	if err != nil {
		e.Fatal(err)
	}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: backend.Store})
	if err := catalog.Add(e.Store("configmaps").Resource()); err != nil {
		e.Fatal(err)
	}
	store, _ := catalog.Snapshot().Store(corev1.Resource("configmaps"))
	return store
}

// run runs the informer until the test ends.
func (e *env) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	e.running = true
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			e.Error(err)
		}
	})
	e.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func (e *env) record(change Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, describe(change))
}

// describe returns a text such as "a: 1 -> 2" for a change of the data of ConfigMap a.
func describe(change Change) string {
	return fmt.Sprintf("%s: %s -> %s", path.Base(change.Key), dataOf(change.Old), dataOf(change.New))
}

func dataOf(entry *storage.Entry) string {
	if entry == nil {
		return "none"
	}
	obj, err := entry.Object()
	if err != nil {
		return "corrupt"
	}
	return obj.(*corev1.ConfigMap).Data["v"]
}

// wantChanges compares the changes since the last call, after a Sync.
func (e *env) wantChanges(want ...string) {
	e.Helper()
	if err := e.Sync(e.Context()); err != nil {
		e.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.changes, want) {
		e.Errorf("changes %q, want %q", e.changes, want)
	}
	e.changes = nil
}

// wantKnown compares the known set, after a Sync.
func (e *env) wantKnown(want ...string) {
	e.Helper()
	if err := e.Sync(e.Context()); err != nil {
		e.Fatal(err)
	}
	if known := e.known(); !slices.Equal(known, want) {
		e.Errorf("known set %q, want %q", known, want)
	}
}

// known returns the known set as texts such as "a: 1".
func (e *env) known() []string {
	var known []string
	entries, _ := e.List()
	for _, entry := range entries {
		known = append(known, path.Base(entry.Key)+": "+dataOf(entry))
	}
	return known
}

func (e *env) create(name, value string) {
	e.Helper()
	obj := registrytest.NewConfigMap(name)
	obj.Data = map[string]string{"v": value}
	if _, err := e.maps.Create(e.Context(), registry.CreateRequest{Namespace: registrytest.Namespace, Object: obj}); err != nil {
		e.Fatal(err)
	}
}

func (e *env) update(name, value string) {
	e.Helper()
	_, err := e.maps.Update(e.Context(), registry.UpdateRequest{
		Namespace: registrytest.Namespace, Name: name,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.DeepCopyObject().(*corev1.ConfigMap)
			next.Data = map[string]string{"v": value}
			return next, nil
		},
	})
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) delete(name string) {
	e.Helper()
	_, err := e.maps.Delete(e.Context(), registry.DeleteRequest{
		Namespace: registrytest.Namespace, Name: name, Options: &metav1.DeleteOptions{},
	})
	if err != nil {
		e.Fatal(err)
	}
}

// damage overwrites a ConfigMap with bytes that cannot be decoded.
func (e *env) damage(name string) {
	e.Helper()
	if _, err := e.Client.Put(e.Context(), e.key(name), "garbage"); err != nil {
		e.Fatal(err)
	}
}

func (e *env) remove(name string) {
	e.Helper()
	if _, err := e.Client.Delete(e.Context(), e.key(name)); err != nil {
		e.Fatal(err)
	}
}

func (e *env) key(name string) string {
	return "/registry/configmaps/" + registrytest.Namespace + "/" + name
}

// compact removes the history of etcd.
func (e *env) compact() {
	e.Helper()
	if _, err := e.Client.Compact(e.Context(), e.Revision(), clientv3.WithCompactPhysical()); err != nil {
		e.Fatal(err)
	}
}

// disconnect takes the ConfigMaps out of the catalog, and returns when the watch has ended: it may
// report later changes before. reconnect returns the ConfigMaps.
func (e *env) disconnect() (reconnect func()) {
	e.Helper()
	select {
	case <-e.lost: // an earlier loss
	default:
	}
	resource := e.maps.Resource()
	if err := e.Catalog.Replace([]*registry.Resource{resource}, nil); err != nil {
		e.Fatal(err)
	}
	if e.running {
		<-e.lost
	}
	return func() {
		e.Helper()
		if err := e.Catalog.Add(resource); err != nil {
			e.Fatal(err)
		}
	}
}
