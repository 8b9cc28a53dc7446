// Package weakmap shares values within a process while they are referenced.
package weakmap

import (
	"runtime"
	"sync"
	"weak"
)

// Map holds weak references to its values. The zero value is empty. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	mu      sync.Mutex // guards entries
	entries map[K]weak.Pointer[V]
}

// Of returns the value of a key. If no referenced value exists, it calls build with the map locked,
// so that a key never has two values. A key must not reference its value.
func (m *Map[K, V]) Of(key K, build func() *V) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.entries[key].Value(); v != nil {
		return v
	}
	v := build()
	if m.entries == nil {
		m.entries = map[K]weak.Pointer[V]{}
	}
	m.entries[key] = weak.Make(v)
	runtime.AddCleanup(v, m.remove, key)
	return v
}

// remove deletes a key unless it has a new value.
func (m *Map[K, V]) remove(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[key].Value() == nil {
		delete(m.entries, key)
	}
}

// Len returns the number of keys whose values have not been collected.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}
