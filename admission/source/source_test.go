package source

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a source of ConfigMaps. Their compiled form is their name.
type env struct {
	*registrytest.Env
	*Source[string]
	compiled []string
}

func newEnv(t *testing.T) *env {
	e := &env{Env: registrytest.New(t, nil)}
	e.Source = New(informer.Config{Resource: corev1.Resource("configmaps"), Lookup: e.Catalog.Store}, func(obj runtime.Object) string {
		name := registrytest.Meta(obj).GetName()
		e.compiled = append(e.compiled, name)
		return name
	})
	return e
}

func (e *env) want(names ...string) {
	e.Helper()
	if got, err := e.Current(e.Context()); err != nil || !slices.Equal(got, names) {
		e.Errorf("got %q (%v), want %q", got, err, names)
	}
}

func TestOwnWritesTakeEffectImmediately(t *testing.T) {
	e := newEnv(t)
	e.want()
	e.Create("configmaps", registrytest.NewConfigMap("b"))
	e.want("b")
	e.Create("configmaps", registrytest.NewConfigMap("a"))
	e.want("a", "b")
	_, err := e.Store("configmaps").Delete(t.Context(), registry.DeleteRequest{
		Namespace: registrytest.Namespace, Name: "b", Options: &metav1.DeleteOptions{},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.want("a")
	if want := []string{"b", "a"}; !slices.Equal(e.compiled, want) {
		t.Errorf("compiled %q, want %q", e.compiled, want)
	}
}

// The deletion by another client of etcd is not counted by the store.
func TestWatchReportsOtherWrites(t *testing.T) {
	e := newEnv(t)
	e.Create("configmaps", registrytest.NewConfigMap("a"))
	e.want("a")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	if _, err := e.Client.Delete(ctx, "/registry/configmaps/"+registrytest.Namespace+"/a"); err != nil {
		t.Fatal(err)
	}
	for {
		current, err := e.Current(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(current) == 0 {
			return
		}
	}
}

func TestCorruptObjectIsAnError(t *testing.T) {
	e := newEnv(t)
	if _, err := e.Client.Put(t.Context(), "/registry/configmaps/"+registrytest.Namespace+"/a", "garbage"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := e.Current(t.Context()); err == nil {
			t.Errorf("got %q without an error", got)
		}
	}
}

func TestMissingResourceHasNoObjects(t *testing.T) {
	e := newEnv(t)
	e.Source = New(informer.Config{Resource: schema.GroupResource{Resource: "widgets"}, Lookup: e.Catalog.Store}, func(runtime.Object) string { return "" })
	e.want()
}
