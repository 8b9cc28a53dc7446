// Package weakmap shares values within a process while they are referenced.
package weakmap

import (
	"runtime"
	"sync"
	"weak"
)

// Map holds weak references to its values. The zero value is empty. It is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	mu    sync.Mutex // guards known
	known map[K]weak.Pointer[V]
}

// Of returns the value of a key. If no referenced value exists it calls build, with
// the map locked, so there are never two values of a key. A key must not reference
// its value.
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

// forget deletes a key unless it has a new value.
func (m *Map[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[key].Value() == nil {
		delete(m.known, key)
	}
}

// Len returns the number of keys whose values have not been collected.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.known)
}
