package storagetest

import "github.com/miniapi/miniapi/storage"

// listKnownRules are the rules of ListOptions.KnownRevision.
func listKnownRules() []rule {
	return []rule{
		{"changes after a known revision are listed", listKnown},
		{"pages and older states ignore a known revision", listKnownPages},
	}
}

// wantSince lists with a known revision. The entries may be missing if the list has not changed.
func (e *env) wantSince(known int64, changed bool, names ...string) *storage.Page {
	e.Helper()
	page := e.list(e.below(namespace), storage.ListOptions{Recursive: true, KnownRevision: known})
	if page.Unchanged && (changed || len(page.Entries) > 0) {
		e.Errorf("since %d the list is unchanged, with %d entries", known, len(page.Entries))
	}
	if !page.Unchanged {
		e.wantNames(page.Entries, names...)
	}
	if page.Revision != e.revision() {
		e.Errorf("the list has revision %d, want %d", page.Revision, e.revision())
	}
	return page
}

func listKnown(e *env) {
	e.create(e.object("a", "1"))
	known := e.wantSince(0, true, "a").Revision
	known = e.wantSince(known, false, "a").Revision
	e.create(e.object("b", "1"))
	e.wantSince(known, true, "a", "b")
	known = e.wantSince(known, true, "a", "b").Revision
	e.wantSince(known, false, "a", "b")
	e.set("b", "2")
	known = e.wantSince(known, true, "a", "b").Revision
	e.delete("a")
	known = e.wantSince(known, true, "b").Revision
	e.compact(known)
	e.wantSince(1, true, "b")
	e.wantSince(known, false, "b")
}

func listKnownPages(e *env) {
	e.create(e.object("a", "1"))
	e.create(e.object("b", "1"))
	known := e.everything().Revision
	for name, opts := range map[string]storage.ListOptions{
		"a page":       {Recursive: true, Limit: 1, KnownRevision: known},
		"one revision": {Recursive: true, ResourceVersion: version(known - 1), ResourceVersionMatch: "Exact", KnownRevision: known},
	} {
		if page := e.list(e.below(namespace), opts); page.Unchanged || len(page.Entries) != 1 {
			e.Errorf("%s: unchanged %t, with %d entries", name, page.Unchanged, len(page.Entries))
		}
	}
}
