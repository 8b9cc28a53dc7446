package rbac

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// Lists and watches run side by side, so what one of them brings may be older
// than what the other has brought already.
func TestListsAndEventsInAnyOrder(t *testing.T) {
	page := func(revision int64, names ...string) func(*cache) {
		return func(c *cache) {
			p := &storage.Page{Revision: revision}
			for _, name := range names {
				p.Entries = append(p.Entries, entryOf(name, revision))
			}
			c.take("clusterroles", p)
		}
	}
	event := func(kind watch.EventType, revision int64, name string) func(*cache) {
		return func(c *cache) {
			c.apply("clusterroles", storage.Event{Type: kind, Revision: revision, Entry: entryOf(name, revision)})
		}
	}
	unchanged := func(revision int64) func(*cache) {
		return func(c *cache) { c.take("clusterroles", &storage.Page{Revision: revision, Unchanged: true}) }
	}
	for name, tc := range map[string]struct {
		steps []func(*cache)
		want  []string
	}{
		"an event after a list":              {[]func(*cache){page(10, "a"), event(watch.Added, 11, "b")}, list("a", "b")},
		"an event that the list has seen":    {[]func(*cache){page(10, "a"), event(watch.Deleted, 9, "a")}, list("a")},
		"a list from before an event":        {[]func(*cache){page(10, "a"), event(watch.Added, 12, "b"), page(11, "a")}, list("a", "b")},
		"a list from after it":               {[]func(*cache){page(10, "a"), event(watch.Added, 12, "b"), page(13, "b")}, list("b")},
		"two events of one revision":         {[]func(*cache){page(10), event(watch.Added, 11, "a"), event(watch.Added, 11, "b")}, list("a", "b")},
		"a list between two of one revision": {[]func(*cache){page(10), event(watch.Added, 11, "a"), page(11, "a", "b"), event(watch.Added, 11, "b")}, list("a", "b")},
		"a list that has not changed":        {[]func(*cache){page(10, "a"), unchanged(11), event(watch.Added, 11, "b")}, list("a", "b")},
		"an event before that list":          {[]func(*cache){page(10, "a"), unchanged(12), event(watch.Added, 11, "b")}, list("a")},
		"a bookmark holds nothing":           {[]func(*cache){page(10, "a"), event(watch.Bookmark, 11, "b")}, list("a")},
		"what is deleted is known no more":   {[]func(*cache){page(10, "a", "b"), event(watch.Deleted, 11, "a")}, list("b")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(Config{})
			for _, step := range tc.steps {
				c.current() // so that a policy which is not built anew shows
				step(c)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(c.current().clusterRoles))); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
		})
	}
}

func entryOf(name string, revision int64) *storage.Entry {
	return storage.NewEntry("/clusterroles/"+name, revision, func() (runtime.Object, error) { return clusterRole(name), nil })
}
