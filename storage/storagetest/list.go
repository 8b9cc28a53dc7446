package storagetest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/storage"
)

func listRules() []rule {
	return []rule{
		{"returns the objects below a key in the order of keys", listOrder},
		{"entries have their own revisions and the page has the revision of the read", listRevisions},
		{"is empty without objects", listNothing},
		{"excludes namespaces with a longer name", listNeighbours},
		{"returns the one entry under a key", listOneKey},
		{"returns no entry for a prefix of a key", listWholeName},
		{"selects by label and by field", listPredicate},
		{"applies a predicate to a single key", listOneKeyPredicate},
		{"returns all of a long list", listLong},
		{"ends with its context", listCancelled},
	}
}

func recursive() storage.ListOptions { return storage.ListOptions{Recursive: true} }

func listOrder(e *env) {
	// "-" and "." sort before "/", so the keys of namespace ns1-b come before the keys of ns1: the
	// Lists are in the order of keys, not of names.
	e.create(e.kind.New("ns2", "a", "1"))
	e.create(e.kind.New("ns1", "b", "1"))
	e.create(e.kind.New("ns1-b", "c", "1"))
	e.create(e.kind.New("ns1", "a-b", "1"))
	e.create(e.kind.New("ns1", "a", "1"))
	var got []string
	for _, entry := range e.everything().Entries {
		got = append(got, entry.Key)
	}
	k := e.kind.Key
	want := []string{k("ns1-b", "c"), k("ns1", "a"), k("ns1", "a-b"), k("ns1", "b"), k("ns2", "a")}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		e.Errorf("keys are %v, want %v", got, want)
	}
}

func listRevisions(e *env) {
	a := e.create(e.object("a", "1"))
	b := e.create(e.object("b", "1"))
	elsewhere := e.create(e.kind.New("ns2", "c", "1"))
	page := e.list(e.below(namespace), recursive())
	e.wantNames(page.Entries, "a", "b")
	e.wantEntry(page.Entries[0], "a", a.Revision, "1")
	e.wantEntry(page.Entries[1], "b", b.Revision, "1")
	if page.Revision != elsewhere.Revision {
		e.Errorf("the list has revision %d, want the revision of the store, %d", page.Revision, elsewhere.Revision)
	}
}

func listNothing(e *env) {
	page := e.everything()
	if len(page.Entries) != 0 || page.Continue != "" || page.Revision != e.revision() {
		e.Errorf("the page is %+v", page)
	}
}

func listNeighbours(e *env) {
	e.create(e.kind.New("ns1", "a", "1"))
	e.create(e.kind.New("ns10", "b", "1"))
	e.create(e.kind.New("ns1-x", "c", "1"))
	e.wantNames(e.list(e.below("ns1"), recursive()).Entries, "a")
}

func listOneKey(e *env) {
	a := e.create(e.object("a", "1"))
	e.create(e.object("ab", "1"))
	page := e.list(e.key("a"), storage.ListOptions{})
	e.wantNames(page.Entries, "a")
	e.wantEntry(page.Entries[0], "a", a.Revision, "1")
	if current := e.revision(); page.Revision != current {
		e.Errorf("the list has revision %d, want %d", page.Revision, current)
	}
}

func listWholeName(e *env) {
	e.create(e.object("ab", "1"))
	e.wantNames(e.list(e.key("a"), storage.ListOptions{}).Entries)
}

func listPredicate(e *env) {
	e.create(e.painted("a", "1", "red"))
	e.create(e.painted("b", "1", "blue"))
	e.create(e.painted("c", "1", "red"))
	e.create(e.object("d", "1"))
	noMatch := storage.Predicate{Label: labels.Nothing(), Attrs: e.kind.Attrs}
	both := e.kind.Coloured("red")
	both.Field = e.kind.Named("c").Field
	cases := []struct {
		name      string
		predicate storage.Predicate
		want      []string
	}{
		{"empty", storage.Predicate{}, []string{"a", "b", "c", "d"}},
		{"empty selector", storage.Predicate{Label: labels.Everything()}, []string{"a", "b", "c", "d"}},
		{"label", e.kind.Coloured("red"), []string{"a", "c"}},
		{"field", e.kind.Named("b"), []string{"b"}},
		{"label and field", both, []string{"c"}},
		{"no match", noMatch, nil},
	}
	for _, c := range cases {
		e.sub(c.name, func(e *env) {
			page := e.list(e.below(""), storage.ListOptions{Recursive: true, Predicate: c.predicate})
			e.wantNames(page.Entries, c.want...)
		})
	}
}

func listOneKeyPredicate(e *env) {
	e.create(e.painted("a", "1", "red"))
	e.wantNames(e.list(e.key("a"), storage.ListOptions{Predicate: e.kind.Coloured("red")}).Entries, "a")
	e.wantNames(e.list(e.key("a"), storage.ListOptions{Predicate: e.kind.Coloured("blue")}).Entries)
}

func listLong(e *env) {
	const n = 1234
	e.many(n, colourless)
	page := e.everything()
	if len(page.Entries) != n || page.Continue != "" {
		e.Fatalf("%d of %d entries, continue %q", len(page.Entries), n, page.Continue)
	}
	for i, entry := range page.Entries {
		if want := e.key(fmt.Sprintf("o%05d", i)); entry.Key != want {
			e.Fatalf("entry %d is %s, want %s", i, entry.Key, want)
		}
	}
}

func listCancelled(e *env) {
	e.create(e.object("a", "1"))
	if _, err := e.Store.GetList(cancelled(e.Context()), e.below(""), recursive()); err == nil {
		e.Error("GetList succeeded on a context that has ended")
	}
}
