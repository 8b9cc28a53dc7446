package miniapi

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// brokenWatches are watches that end after the given events.
type brokenWatches struct {
	registry.Interface
	events [][]storage.Event
}

func (b *brokenWatches) Resource() *registry.Resource {
	return &registry.Resource{Versions: []registry.Version{{Name: "v1"}}}
}

func (b *brokenWatches) Watch(context.Context, registry.ListRequest) (storage.Watcher, error) {
	events := make(chan storage.Event, len(b.events[0]))
	for _, event := range b.events[0] {
		events <- event
	}
	close(events)
	b.events = b.events[1:]
	return brokenWatch{events: events}, nil
}

type brokenWatch struct {
	storage.Watcher
	events chan storage.Event
}

func (b brokenWatch) Events() <-chan storage.Event { return b.events }

func (b brokenWatch) Stop() {}

// A wait that begins again, and ends before the first event, has no last state.
func TestWaitAfterABrokenWatch(t *testing.T) {
	entry := storage.NewEntry("/configmaps/default/a", 7, func() (runtime.Object, error) {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, nil
	})
	w := wait{
		unmet:  func(*unstructured.Unstructured) string { return "the condition is false" },
		served: &brokenWatches{events: [][]storage.Event{{{Type: watch.Added, Entry: entry, Revision: 7}}, {}}},
	}
	for _, want := range []string{"the condition is false\n\tlast write: resourceVersion 7", "the object could not be read"} {
		if met, err := w.watch(t.Context(), registry.ListRequest{}); met || err != nil {
			t.Fatalf("met %v, error %v", met, err)
		}
		if text := (&Server{}).describeWait(&w); !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}
