package informer

import (
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry/registrytest"
	"github.com/miniapi/miniapi/storage"
)

// Lists and events are merged in any order, so one of them may be older than the state.
func TestStateMergesListsAndEventsInAnyOrder(t *testing.T) {
	list := func(revision int64, names ...string) func(*state) {
		return func(s *state) {
			page := &storage.Page{Revision: revision}
			for _, name := range names {
				page.Entries = append(page.Entries, entryOf(name, revision))
			}
			s.replace(page)
		}
	}
	event := func(kind watch.EventType, revision int64, name string) func(*state) {
		return func(s *state) {
			s.apply(storage.Event{Type: kind, Revision: revision, Entry: entryOf(name, revision)})
		}
	}
	bookmark := func(revision int64) func(*state) {
		return func(s *state) { s.apply(storage.Event{Type: watch.Bookmark, Revision: revision}) }
	}
	unchanged := func(revision int64) func(*state) {
		return func(s *state) { s.replace(&storage.Page{Revision: revision, Unchanged: true}) }
	}
	type steps []func(*state)
	for name, tc := range map[string]struct {
		steps steps
		want  []string
	}{
		"an event after a list is applied":                        {steps{list(10, "a"), event(watch.Added, 11, "b")}, []string{"a", "b"}},
		"an event before a list is ignored":                       {steps{list(10, "a"), event(watch.Deleted, 9, "a")}, []string{"a"}},
		"a list before an event is ignored":                       {steps{list(10, "a"), event(watch.Added, 12, "b"), list(11, "a")}, []string{"a", "b"}},
		"a list after an event replaces the state":                {steps{list(10, "a"), event(watch.Added, 12, "b"), list(13, "b")}, []string{"b"}},
		"two events of one revision are applied":                  {steps{list(10), event(watch.Added, 11, "a"), event(watch.Added, 11, "b")}, []string{"a", "b"}},
		"a list between two events of one revision changes none":  {steps{list(10), event(watch.Added, 11, "a"), list(11, "a", "b"), event(watch.Added, 11, "b")}, []string{"a", "b"}},
		"an unchanged list keeps the entries":                     {steps{list(10, "a"), unchanged(11), event(watch.Added, 11, "b")}, []string{"a", "b"}},
		"an event before an unchanged list is ignored":            {steps{list(10, "a"), unchanged(12), event(watch.Added, 11, "b")}, []string{"a"}},
		"a bookmark changes nothing":                              {steps{list(10, "a"), bookmark(11)}, []string{"a"}},
		"a deleted object leaves the known set":                   {steps{list(10, "a", "b"), event(watch.Deleted, 11, "a")}, []string{"b"}},
		"an event of the list's revision for a deleted object":    {steps{list(10, "a"), event(watch.Deleted, 10, "b")}, []string{"a"}},
		"an entry of the same revision is the same":               {steps{list(10, "a"), event(watch.Added, 10, "a")}, []string{"a"}},
		"an unchanged list before an event is ignored":            {steps{list(10, "a"), event(watch.Added, 12, "b"), unchanged(11)}, []string{"a", "b"}},
		"a deletion after a list of the same state is not missed": {steps{list(10, "a"), list(12, "a"), event(watch.Deleted, 13, "a")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var s state
			s.entries = map[string]*storage.Entry{}
			for _, step := range tc.steps {
				step(&s)
			}
			var names []string
			for _, entry := range s.list() {
				names = append(names, path.Base(entry.Key))
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("known set (-want +got):\n%s", diff)
			}
		})
	}
}

func entryOf(name string, revision int64) *storage.Entry {
	return storage.NewEntry("/configmaps/x/"+name, revision, func() (runtime.Object, error) {
		return registrytest.NewConfigMap(name), nil
	})
}
