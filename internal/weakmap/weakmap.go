// Package weakmap shares values within a process for as long as somebody uses
// them.
package weakmap

import (
	"runtime"
	"sync"
	"weak"
)

// Map has values that nobody keeps alive but their users. The zero value is
// empty. Safe for concurrent use.
type Map[K comparable, V any] struct {
	mu    sync.Mutex // guards known
	known map[K]weak.Pointer[V]
}

// Of returns the value of a key, which is built if there is none or nobody uses
// it any more: there are never two in use. A key must not lead to its value;
// build is called with the map locked.
func (m *Map[K, V]) Of(key K, build func() *V) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.known[key].Value(); v != nil {
		return v
	}
	v := build()
	if m.known == nil {
		m.known = map[K]weak.Pointer[V]{}
	}
	m.known[key] = weak.Make(v)
	runtime.AddCleanup(v, m.forget, key)
	return v
}

// forget drops a key, unless it has got another value.
func (m *Map[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[key].Value() == nil {
		delete(m.known, key)
	}
}

// Len is the number of keys whose values have not been collected.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}
