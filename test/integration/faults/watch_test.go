package faults_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/testapi/faults"
)

var onWatch = faults.On("watch", "configmaps")

// watch starts a watch of the namespace default from the present state.
func (e *env) watch() watch.Interface {
	e.Helper()
	list, err := e.client.CoreV1().ConfigMaps("default").List(e.Context(), metav1.ListOptions{})
	e.check(err)
	w, err := e.client.CoreV1().ConfigMaps("default").Watch(e.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	e.check(err)
	e.Cleanup(w.Stop)
	return w
}

func TestWatchEnds(t *testing.T) {
	two := 2
	for name, effect := range map[string]faults.Watch{"in an orderly way": {EndAfter: &two}, "with its connection": {DropAfter: &two}, "with 410": {ExpireAfter: &two}} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			defer e.faults.Watch(onWatch, effect).Remove()
			w := e.watch()
			for i := range 3 {
				e.check(e.create(fmt.Sprint(i)))
			}
			for range 2 {
				if event := <-w.ResultChan(); event.Type != watch.Added {
					t.Fatalf("got %v", event)
				}
			}
			event, open := <-w.ResultChan()
			if effect.ExpireAfter == nil {
				if open {
					t.Errorf("got %v, want the end of the watch", event)
				}
				return
			}
			if err := apierrors.FromObject(event.Object); event.Type != watch.Error || !apierrors.IsResourceExpired(err) {
				t.Errorf("got %v", event)
			}
		})
	}
}

func TestHeldEventsAreReleased(t *testing.T) {
	e := start(t)
	f := e.faults.Watch(onWatch, faults.Watch{Hold: true})
	w := e.watch()
	e.check(e.create("a"))
	e.check(e.create("b"))
	select {
	case event := <-w.ResultChan():
		t.Fatalf("a held event arrives: %v", event)
	case <-time.After(50 * time.Millisecond):
	}
	f.Remove()
	for range 2 {
		if event := <-w.ResultChan(); event.Type != watch.Added {
			t.Errorf("got %v", event)
		}
	}
}

func TestBookmarksAreWithheld(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	defer e.faults.Watch(onWatch, faults.Watch{NoBookmarks: true}).Remove()
	w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{
		AllowWatchBookmarks: true, SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	e.check(err)
	defer w.Stop()
	e.check(e.create("b"))
	for _, want := range []string{"a", "b"} { // without the bookmark at the end of the initial events
		event := <-w.ResultChan()
		if obj, ok := event.Object.(*corev1.ConfigMap); event.Type != watch.Added || !ok || obj.Name != want {
			t.Errorf("got %v, want %s", event, want)
		}
	}
}

// A watch that begins with a list is disturbed after the list, as a watch after a list.
func TestInitialEventsAreNotHeld(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	f := e.faults.Watch(onWatch, faults.Watch{Hold: true})
	w, err := e.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{
		AllowWatchBookmarks: true, SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	e.check(err)
	defer w.Stop()
	for _, want := range []watch.EventType{watch.Added, watch.Bookmark} {
		if event := <-w.ResultChan(); event.Type != want {
			t.Errorf("got %v, want %s", event, want)
		}
	}
	e.check(e.create("b"))
	select {
	case event := <-w.ResultChan():
		t.Errorf("a held event arrives: %v", event)
	case <-time.After(50 * time.Millisecond):
	}
	f.Remove()
	if event := <-w.ResultChan(); event.Type != watch.Added {
		t.Errorf("got %v", event)
	}
}

func TestServerStopsWithHeldEvents(t *testing.T) {
	e := start(t)
	e.faults.Watch(onWatch, faults.Watch{Hold: true})
	e.watch()
	e.check(e.create("a")) // the cleanup of start stops the server
}

// TestInformerSurvivesFaults runs an informer whose watches end, expire and lag.
func TestInformerSurvivesFaults(t *testing.T) {
	e := start(t)
	one := 1
	for _, effect := range []faults.Watch{{EndAfter: &one}, {ExpireAfter: &one}, {DropAfter: &one}} {
		e.faults.Watch(faults.Match{Verbs: onWatch.Verbs, Resources: onWatch.Resources, Count: 1}, effect)
	}
	lister := e.informer()
	for i := range 20 {
		e.check(e.create(fmt.Sprint(i)))
	}
	e.await(func() bool {
		list, err := lister.List(labels.Everything())
		return err == nil && len(list) == 20
	})
	for _, f := range e.faults.List() {
		if f.Injected() != 1 {
			t.Errorf("%+v was injected %d times", f.Fault().Effect.Watch, f.Injected())
		}
	}
}
