package storagetest

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func listVersionRules() []rule {
	return []rule{
		{"unset reads the latest state", listUnset},
		{"0 returns any state", listAny},
		{"N returns a state not older than N", listNotOlderThan},
		{"Exact N reads the state at N", listExact},
		{"Exact N reads a single key at N", listExactOneKey},
		{"Exact N is empty before the first create", listExactBefore},
		{"N ahead of the store is rejected", listFuture},
		{"a compacted N is rejected if it must be exact", listCompacted},
		{"an invalid resourceVersion is rejected", listInvalidVersion},
	}
}

func listUnset(e *env) {
	e.create(e.object("a", "1"))
	latest := e.set("a", "2")
	page := e.everything()
	e.wantEntry(page.Entries[0], "a", latest.Revision, "2")
	if page.Revision != latest.Revision {
		e.Errorf("the list has revision %d, want %d", page.Revision, latest.Revision)
	}
}

func listAny(e *env) {
	created := e.create(e.object("a", "1"))
	for _, limit := range []int64{0, 5} {
		page := e.list(e.below(""), storage.ListOptions{Recursive: true, ResourceVersion: "0", Limit: limit})
		wanted := 0
		if page.Revision >= created.Revision {
			wanted = 1
		}
		if len(page.Entries) != wanted {
			e.Errorf("limit %d: %d entries at revision %d", limit, len(page.Entries), page.Revision)
		}
	}
}

func listNotOlderThan(e *env) {
	e.create(e.object("a", "1"))
	second := e.set("a", "2")
	for _, opts := range []storage.ListOptions{
		{},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Limit: 5},
	} {
		opts.Recursive, opts.ResourceVersion = true, version(second.Revision)
		page := e.list(e.below(""), opts)
		e.wantEntry(page.Entries[0], "a", second.Revision, "2")
		if page.Revision < second.Revision {
			e.Errorf("%+v: the list has revision %d", opts, page.Revision)
		}
	}
}

// exactly returns the two forms of options that request the state at a revision.
func exactly(revision int64) []storage.ListOptions {
	return []storage.ListOptions{
		{Recursive: true, ResourceVersion: version(revision), ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{Recursive: true, ResourceVersion: version(revision), ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 5},
		// The legacy form: a limit and no match.
		{Recursive: true, ResourceVersion: version(revision), Limit: 5},
	}
}

func listExact(e *env) {
	first := e.create(e.object("a", "1"))
	b := e.create(e.object("b", "1"))
	e.set("a", "2")
	e.delete("b")
	for _, opts := range exactly(b.Revision) {
		page := e.list(e.below(""), opts)
		e.wantNames(page.Entries, "a", "b")
		e.wantEntry(page.Entries[0], "a", first.Revision, "1")
		if page.Revision != b.Revision {
			e.Errorf("%+v: the list has revision %d, want %d", opts, page.Revision, b.Revision)
		}
	}
}

func listExactOneKey(e *env) {
	first := e.create(e.object("a", "1"))
	e.set("a", "2")
	page := e.list(e.key("a"), storage.ListOptions{
		ResourceVersion: version(first.Revision), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	e.wantNames(page.Entries, "a")
	e.wantEntry(page.Entries[0], "a", first.Revision, "1")
	if page.Revision != first.Revision {
		e.Errorf("the list has revision %d, want %d", page.Revision, first.Revision)
	}
}

func listExactBefore(e *env) {
	before := e.create(e.kind.New("ns2", "a", "1")).Revision
	e.create(e.object("a", "1"))
	for _, opts := range exactly(before) {
		page := e.list(e.below(namespace), opts)
		if len(page.Entries) != 0 || page.Revision != before {
			e.Errorf("%+v: %d entries at revision %d, want none at %d", opts, len(page.Entries), page.Revision, before)
		}
	}
}

func listFuture(e *env) {
	asked := e.create(e.object("a", "1")).Revision + 1000
	notOlder := storage.ListOptions{Recursive: true, ResourceVersion: version(asked)}
	for _, opts := range append(exactly(asked), notOlder) {
		_, err := e.Store.GetList(e.Context(), e.below(""), opts)
		e.wantError(err, storage.ErrFutureRevision, "list", e.below(""))
		e.wantFuture(err, asked)
	}
}

func listCompacted(e *env) {
	old := e.create(e.object("a", "1"))
	latest := e.set("a", "2")
	e.compact(latest.Revision)
	for _, opts := range exactly(old.Revision) {
		_, err := e.Store.GetList(e.Context(), e.below(""), opts)
		e.wantError(err, storage.ErrCompacted, "list", e.below(""))
	}
	for _, opts := range exactly(latest.Revision) { // the compacted revision itself can be read
		page := e.list(e.below(""), opts)
		e.wantEntry(page.Entries[0], "a", latest.Revision, "2")
	}
	notOlder := e.list(e.below(""), storage.ListOptions{Recursive: true, ResourceVersion: version(old.Revision)})
	e.wantEntry(notOlder.Entries[0], "a", latest.Revision, "2")
}

func listInvalidVersion(e *env) {
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan} {
		for _, malformed := range []string{"abc", "-1", "99999999999999999999"} {
			opts := storage.ListOptions{Recursive: true, ResourceVersion: malformed, ResourceVersionMatch: match}
			_, err := e.Store.GetList(e.Context(), e.below(""), opts)
			if !errors.Is(err, versioner.ErrInvalidVersion) {
				e.Errorf("match %q at %q: %v, want %v", match, malformed, err, versioner.ErrInvalidVersion)
			}
		}
	}
}
