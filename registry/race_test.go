package registry_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

const (
	writers = 8
	rounds  = 12
)

// runWriters runs do in one goroutine for each writer and waits for all.
func runWriters(do func(writer int)) {
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() { do(writer) })
	}
	group.Wait()
}

// increment returns a change that adds one to a number in the data of a ConfigMap.
func increment(key string) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) {
		n, _ := strconv.Atoi(c.Data[key])
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		c.Data[key] = strconv.Itoa(n + 1)
	}
}

func TestConcurrentUpdatesLoseNoWrite(t *testing.T) {
	e := registrytest.New(t, nil)
	shared := e.Create("configmaps", registrytest.NewConfigMap("shared")).(*corev1.ConfigMap)
	store := e.Store("configmaps")
	var conflicts atomic.Int64
	runWriters(func(writer int) {
		key := fmt.Sprintf("writer-%d", writer)
		for range rounds {
			// A patch has no resourceVersion, so it never conflicts.
			if _, err := store.Update(t.Context(), patch(shared, increment("patched"))); err != nil {
				t.Error(err)
			}
			// Nor does an update without resourceVersion.
			unconditional := patch(shared, func(c *corev1.ConfigMap) { increment(key)(c); c.ResourceVersion = "" })
			if _, err := store.Update(t.Context(), unconditional); err != nil {
				t.Error(err)
			}
			conflicts.Add(int64(readModifyWrite(t, store, "read")))
		}
	})
	got := e.Get("configmaps", "x", "shared").(*corev1.ConfigMap).Data
	want := strconv.Itoa(writers * rounds)
	if got["patched"] != want || got["read"] != want {
		t.Errorf("%s patches and %s conditional updates, want %s of each", got["patched"], got["read"], want)
	}
	for writer := range writers {
		if n := got[fmt.Sprintf("writer-%d", writer)]; n != strconv.Itoa(rounds) {
			t.Errorf("%s unconditional updates of writer %d", n, writer)
		}
	}
	t.Logf("%d conflicts", conflicts.Load())
}

// readModifyWrite increments the number at key as a client does: it reads and updates the object
// until the update does not conflict. It returns the number of conflicts.
func readModifyWrite(t *testing.T, store *registry.Store, key string) (conflicts int) {
	for {
		entry, err := store.Get(t.Context(), "x", "shared", "")
		if err != nil {
			t.Error(err)
			return conflicts
		}
		obj, err := entry.Object()
		if err != nil {
			t.Error(err)
			return conflicts
		}
		_, err = store.Update(t.Context(), put(registrytest.Change(obj.(*corev1.ConfigMap), increment(key))))
		if err == nil {
			return conflicts
		}
		if !apierrors.IsConflict(err) {
			t.Error(err)
			return conflicts
		}
		conflicts++
	}
}

func TestOneOfManyCreatesSucceeds(t *testing.T) {
	e := registrytest.New(t, nil)
	for round := range rounds {
		name := fmt.Sprintf("c%d", round)
		var created, existed atomic.Int64
		runWriters(func(int) {
			switch _, err := e.Store("configmaps").Create(t.Context(), post(registrytest.NewConfigMap(name))); {
			case err == nil:
				created.Add(1)
			case apierrors.IsAlreadyExists(err):
				existed.Add(1)
			default:
				t.Error(err)
			}
		})
		if created.Load() != 1 || existed.Load() != writers-1 {
			t.Fatalf("%d created, %d existed", created.Load(), existed.Load())
		}
	}
}

func TestOneOfManyUpdatesCreates(t *testing.T) {
	e := registrytest.New(t, nil)
	for round := range rounds {
		obj := registrytest.NewConfigMap(fmt.Sprintf("c%d", round))
		var created atomic.Int64
		runWriters(func(int) {
			req := patchOrCreate(obj, increment("n"))
			result, err := e.Store("configmaps").Update(t.Context(), req)
			if err != nil {
				t.Error(err)
			}
			if result.Created {
				created.Add(1)
			}
		})
		if got := e.Get("configmaps", "x", obj.Name).(*corev1.ConfigMap); created.Load() != 1 || got.Data["n"] != strconv.Itoa(writers) {
			t.Fatalf("%d created, data %v", created.Load(), got.Data)
		}
	}
}

// patchOrCreate returns the request of an apply: it changes the stored object or creates obj.
func patchOrCreate(obj *corev1.ConfigMap, change func(*corev1.ConfigMap)) registry.UpdateRequest {
	req := put(obj)
	req.CreateIfAbsent, req.ForceCreate = false, true
	req.Propose = func(_ context.Context, current runtime.Object) (runtime.Object, error) {
		if current == nil {
			return registrytest.Change(obj, change), nil
		}
		return registrytest.Change(current.(*corev1.ConfigMap), change), nil
	}
	return req
}

func TestConcurrentRemovalsOfTheLastFinalizerSucceed(t *testing.T) {
	e := registrytest.New(t, nil)
	for round := range rounds {
		obj := e.Create("configmaps", registrytest.Change(registrytest.NewConfigMap(fmt.Sprintf("f%d", round)), func(c *corev1.ConfigMap) {
			c.Finalizers = []string{"exam.io/one"}
		})).(*corev1.ConfigMap)
		if _, err := e.Store("configmaps").Delete(t.Context(), deleteRequest(obj.Name, nil)); err != nil {
			t.Fatal(err)
		}
		release := waitForAllReads(func(c *corev1.ConfigMap) { c.Finalizers = nil })
		runWriters(func(writer int) {
			req := patch(obj, release(writer))
			if writer%2 == 0 { // an apply must not create the object again
				req = patchOrCreate(obj, release(writer))
			}
			result, err := e.Store("configmaps").Update(t.Context(), req)
			if err != nil || result.Created {
				t.Errorf("created %v, error %v", result.Created, err)
			}
		})
		if !isAbsent(e, "configmaps", "x", obj.Name) {
			t.Fatal("the object still exists")
		}
	}
}

// waitForAllReads returns a change for each writer. The first call of each change waits until all
// writers have read the same state.
func waitForAllReads(change func(*corev1.ConfigMap)) func(writer int) func(*corev1.ConfigMap) {
	var reads sync.WaitGroup
	reads.Add(writers)
	var once [writers]sync.Once
	return func(writer int) func(*corev1.ConfigMap) {
		return func(c *corev1.ConfigMap) {
			once[writer].Do(func() { reads.Done(); reads.Wait() })
			change(c)
		}
	}
}

func TestUpdateKeepsAConcurrentlyAddedFinalizer(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	runs := 0
	_, err := e.Store("configmaps").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "c",
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			if runs++; runs == 1 {
				update[*corev1.ConfigMap](e, "configmaps", patch(obj, func(c *corev1.ConfigMap) { c.Finalizers = []string{"exam.io/one"} }))
			}
			return registrytest.Change(current.(*corev1.ConfigMap), increment("n")), nil
		},
	})
	got := e.Get("configmaps", "x", "c").(*corev1.ConfigMap)
	if err != nil || runs != 2 || len(got.Finalizers) != 1 || got.Data["n"] != "1" {
		t.Errorf("error %v, %d runs, object %v", err, runs, got)
	}
}

func TestResourceVersionIsCheckedAgainAfterALostRace(t *testing.T) {
	e := registrytest.New(t, nil)
	obj := e.Create("configmaps", registrytest.NewConfigMap("c")).(*corev1.ConfigMap)
	runs := 0
	_, err := e.Store("configmaps").Update(t.Context(), registry.UpdateRequest{
		Namespace: "x", Name: "c",
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) {
			if runs++; runs == 1 {
				update[*corev1.ConfigMap](e, "configmaps", patch(obj, increment("other")))
			}
			return registrytest.Change(obj, increment("mine")), nil
		},
	})
	wantMessage(t, err, 409, `Operation cannot be fulfilled on configmaps "c": `+staleMessage)
	if got := e.Get("configmaps", "x", "c").(*corev1.ConfigMap); runs != 2 || got.Data["mine"] != "" {
		t.Errorf("%d runs, data %v", runs, got.Data)
	}
}

func TestConcurrentDeletesAndUpdates(t *testing.T) {
	e := registrytest.New(t, nil)
	for round := range rounds {
		obj := e.Create("configmaps", registrytest.NewConfigMap(fmt.Sprintf("c%d", round))).(*corev1.ConfigMap)
		var removed atomic.Int64
		runWriters(func(writer int) {
			if writer%2 == 0 {
				result, err := e.Store("configmaps").Delete(t.Context(), deleteRequest(obj.Name, nil))
				if err != nil && !apierrors.IsNotFound(err) {
					t.Error(err)
				}
				if result.Removed {
					removed.Add(1)
				}
				return
			}
			if _, err := e.Store("configmaps").Update(t.Context(), patch(obj, increment("n"))); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		})
		if removed.Load() != 1 || !isAbsent(e, "configmaps", "x", obj.Name) {
			t.Fatalf("removed by %d writers, want 1 and no object", removed.Load())
		}
	}
}

func TestDeleteCollectionKeepsARecreatedObject(t *testing.T) {
	configMaps := registrytest.ConfigMaps()
	e := registrytest.New(t, registry.Chain{{Name: "Recreate", Admit: recreateOnDelete(t)}}, configMaps)
	e.Create("configmaps", registrytest.NewConfigMap("c"))
	if _, err := e.Store("configmaps").DeleteCollection(t.Context(), deleteRequest("", nil), registry.ListRequest{Namespace: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := e.Get("configmaps", "x", "c").(*corev1.ConfigMap); got.Data["second"] != "1" {
		t.Errorf("object %v, want the recreated one", got)
	}
}

// recreateOnDelete returns an admission function that deletes and recreates the object of the first
// deletion, before that deletion continues.
func recreateOnDelete(t *testing.T) func(context.Context, *registry.Attributes) error {
	var begun atomic.Bool
	return func(ctx context.Context, a *registry.Attributes) error {
		if a.Operation != registry.OperationDelete || begun.Swap(true) {
			return nil
		}
		store, _ := a.Catalog.Store(a.Resource.GroupResource())
		name := a.OldObject.(*corev1.ConfigMap).Name
		if _, err := store.Delete(ctx, deleteRequest(name, nil)); err != nil {
			t.Error(err)
		}
		second := registrytest.Change(registrytest.NewConfigMap(name), increment("second"))
		_, err := store.Create(ctx, post(second))
		return err
	}
}
