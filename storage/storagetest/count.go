package storagetest

func countRules() []rule {
	return []rule{
		{"counts the objects below a key", countBelow},
		{"is zero without objects", countNothing},
		{"excludes namespaces with a longer name", countNeighbours},
	}
}

func (e *env) wantCount(key string, want int64) {
	e.Helper()
	got, err := e.Store.Count(e.Context(), key)
	if err != nil || got != want {
		e.Errorf("Count %s is %d (%v), want %d", key, got, err, want)
	}
}

func countBelow(e *env) {
	e.create(e.object("a", "1"))
	e.create(e.object("b", "1"))
	e.create(e.kind.New("ns2", "c", "1"))
	e.wantCount(e.below(""), 3)
	e.wantCount(e.below(namespace), 2)
	e.delete("a")
	e.wantCount(e.below(namespace), 1)
}

func countNothing(e *env) {
	e.wantCount(e.below(""), 0)
}

func countNeighbours(e *env) {
	e.create(e.kind.New("ns1", "a", "1"))
	e.create(e.kind.New("ns10", "a", "1"))
	e.create(e.kind.New("ns1-b", "a", "1"))
	e.wantCount(e.below("ns1"), 1)
}
