package watchcache_test

import (
	"testing"

	"github.com/miniapi/miniapi/storage"
)

// A list of an unchanged resource does not visit its entries.
func TestUnchangedLists(t *testing.T) {
	w := newEnv(t)
	w.create("a")
	list := func(known int64) *storage.Page {
		t.Helper()
		page, err := w.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, KnownRevision: known})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	first := list(0)
	if again := list(first.Revision); first.Unchanged || !again.Unchanged || again.Revision < first.Revision {
		t.Errorf("first %+v, then %+v", first, again)
	}
	w.create("b")
	if changed := list(first.Revision); changed.Unchanged || len(changed.Entries) != 2 {
		t.Errorf("after a write: %+v", changed)
	}
}
