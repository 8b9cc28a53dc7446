package garbagecollector

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// env is a collector that does not run, and the ConfigMap owner with the UID u.
type env struct {
	*Collector
	activity *reconcile.Activity
	owner    *item
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{activity: new(reconcile.Activity), owner: &item{Metadata: reconcile.Metadata{UID: "u"}, key: key("owner")}}
	config := reconcile.Config{
		Catalog: registrytest.New(t, nil).Catalog, Clock: apitime.New(nil), Activity: e.activity, Logger: slog.New(slog.DiscardHandler),
	}
	e.Collector = New(config).(*Collector)
	return e
}

func key(name string) string { return "/configmaps/" + registrytest.Namespace + "/" + name }

// add adds a dependent of the owner to the graph.
func (e *env) add(name string) {
	e.graph.Load().put(newNode(key(name), reconcile.Metadata{OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "u"},
	}}))
}

// count returns the number of dependents of the owner at a revision.
func (e *env) count(ctx context.Context, revision int64) (n int, err error) {
	err = e.eachDependent(ctx, e.owner, revision, func(dependent) bool {
		n++
		return true
	})
	return n, err
}

// At the start, and after changes were lost, the graph lacks objects until the complete state is
// handled. Later it may lack the latest changes.
func TestDependentsOfAnIncompleteGraphAreNotRead(t *testing.T) {
	e := newEnv(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantWait := func(when string, revision int64) {
		t.Helper()
		if n, err := e.count(ended, revision); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d dependents, error %v", when, n, err)
		}
	}
	e.add("a")
	wantWait("before the complete state is handled", 5)
	e.add("b")
	e.activity.Handled(5)
	if n, err := e.count(ended, 5); n != 2 || err != nil {
		t.Errorf("of the complete state: %d dependents, error %v", n, err)
	}
	wantWait("at a later revision", 6)
	e.activity.Lost()
	e.Reset()
	e.add("a")
	wantWait("after changes were lost", 5)
}

// A caller that waits reads the graph that has replaced the first one meanwhile.
func TestDependentsAreReadFromTheLatestGraph(t *testing.T) {
	e := newEnv(t)
	e.add("a")
	e.activity.Handled(5)
	counted := make(chan int)
	go func() { // ends when revision 6 is handled
		n, err := e.count(t.Context(), 6)
		if err != nil {
			t.Error(err)
		}
		counted <- n
	}()
	e.activity.Lost()
	e.Reset()
	for _, name := range []string{"a", "b", "c"} {
		e.add(name)
	}
	e.activity.Handled(6)
	if n := <-counted; n != 3 {
		t.Errorf("%d dependents", n)
	}
}
