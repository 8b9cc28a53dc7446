package integration_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// restoreLoad is the load of TestRestoresDuringWrites.
type restoreLoad struct {
	*testing.T
	client kubernetes.Interface

	mu sync.Mutex
	// acknowledged holds the resourceVersion of each acknowledged write, with the name of its
	// object.
	acknowledged map[string]string
}

func (l *restoreLoad) acknowledge(obj *corev1.ConfigMap, err error) {
	switch {
	case err == nil:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acknowledged[obj.ResourceVersion] = obj.Name
	case !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err):
		l.Error(err)
	}
}

func (l *restoreLoad) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// write creates, patches, updates and deletes objects of a writer until ctx ends.
func (l *restoreLoad) write(ctx context.Context, writer int) {
	maps := l.client.CoreV1().ConfigMaps("default")
	for round := 0; ctx.Err() == nil; round++ {
		name := fmt.Sprint("w", writer, "-", round%5)
		created, err := maps.Create(l.Context(), configMap(name), metav1.CreateOptions{})
		l.acknowledge(created, err)
		patch := fmt.Appendf(nil, `{"data":{"round":"%d"}}`, round)
		patched, err := maps.Patch(l.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		l.acknowledge(patched, err)
		if err == nil {
			patched.Data["updated"] = strconv.Itoa(round)
			l.acknowledge(maps.Update(l.Context(), patched, metav1.UpdateOptions{}))
		}
		if round%3 == 0 {
			if err := maps.Delete(l.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				l.Error(err)
			}
		}
	}
}

// collect returns the names of the objects of all events up to the object "last" by the
// resourceVersions of the events, which must increase.
func (l *restoreLoad) collect(events watch.Interface) map[string]string {
	defer events.Stop()
	seen, before := map[string]string{}, int64(0)
	for event := range events.ResultChan() {
		obj, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			l.Errorf("the watch sends %s: %v", event.Type, event.Object)
			break
		}
		version, err := strconv.ParseInt(obj.ResourceVersion, 10, 64)
		if err != nil || version <= before {
			l.Errorf("event %s of %s has resourceVersion %s after %d", event.Type, obj.Name, obj.ResourceVersion, before)
		}
		before, seen[obj.ResourceVersion] = version, obj.Name
		if obj.Name == "last" {
			return seen
		}
	}
	l.Error("the watch ended")
	return seen
}

// Each write that is acknowledged during restores is an event of its own, although the restores
// change the same objects. Informers end equal to a list, and a restore without other writers
// brings back the state.
func TestRestoresDuringWrites(t *testing.T) {
	const writers, writes = 3, 120
	server := servertest.Start(t, miniapi.Config{})
	l := &restoreLoad{T: t, client: clientset(t, server), acknowledged: map[string]string{}}
	for writer := range writers {
		createConfigMap(t, l.client, fmt.Sprint("w", writer, "-0"))
	}
	createConfigMap(t, l.client, "kept")
	snapshot, want := takeSnapshot(t, server), contents(t, l.client)
	list, err := l.client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	events, err := l.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	check(t, err)
	seen := make(chan map[string]string, 1)
	go func() { seen <- l.collect(events) }() // ends with the object "last"
	caches := startConfigMapListers(t, l.client, 4)

	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() { l.write(ctx, writer) })
	}
	restores, busy := 0, 0
	for ; l.count() < writes; restores++ {
		if err := server.Restore(t.Context(), snapshot); err != nil {
			busy++ // the writers are faster
		}
	}
	stop()
	writing.Wait()
	check(t, server.Restore(t.Context(), snapshot))
	if diff := cmp.Diff(want, contents(t, l.client)); diff != "" {
		t.Errorf("the restored state differs: %s", diff)
	}
	createConfigMap(t, l.client, "last")
	requireEqual(t, caches, contents(t, l.client), "last")
	all := <-seen
	for version, name := range l.acknowledged {
		if all[version] != name {
			t.Errorf("the write of %s at %s was acknowledged, the watch has %q", name, version, all[version])
		}
	}
	t.Logf("%d writes, %d events, %d of %d restores gave up", len(l.acknowledged), len(all), busy, restores)
}
