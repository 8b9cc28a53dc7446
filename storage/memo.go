package storage

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultMemo is a limit for a memo in bytes, enough for the bodies of 10,000 pods in one encoding.
const DefaultMemo = 64 << 20

// Memo keeps objects and bodies that were derived from entries, up to a number of bytes. It evicts
// by the second-chance algorithm. An evicted value is made again on demand, and callers that hold
// it may go on using it. A Memo is safe for concurrent use, and a hit takes no lock.
type Memo struct {
	limit int64

	mu sync.Mutex // guards the fields below
	// oldest and newest are the ends of the queue of eviction. Values enter it when they are added,
	// and again when they are spared.
	oldest, newest *derived
	stats          MemoStats
}

// MemoStats are the statistics of a memo.
type MemoStats struct {
	Bytes   int64  // kept now; the size of objects is an estimate
	Made    uint64 // values added
	Evicted uint64 // values evicted
}

// NewMemo returns a memo of at most limit bytes.
func NewMemo(limit int64) *Memo { return &Memo{limit: limit} }

// Stats returns the current statistics.
func (m *Memo) Stats() MemoStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

// add adds the value of a slot. A value above the limit is evicted at once.
func (m *Memo) add(d *derived) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Made++
	m.stats.Bytes += d.size
	m.push(d)
	for m.stats.Bytes > m.limit {
		m.evict()
	}
}

// push appends a value to the queue. The caller holds mu.
func (m *Memo) push(d *derived) {
	d.next = nil
	if m.newest == nil {
		m.oldest = d
	} else {
		m.newest.next = d
	}
	m.newest = d
}

// evict removes the oldest value, or moves it to the end of the queue if it was used since it
// entered the queue. The caller holds mu.
func (m *Memo) evict() {
	d := m.oldest
	if m.oldest = d.next; m.oldest == nil {
		m.newest = nil
	}
	if d.used.CompareAndSwap(true, false) && d.size <= m.limit {
		m.push(d)
		return
	}
	d.next = nil
	d.slot.value.CompareAndSwap(d, nil)
	m.stats.Bytes -= d.size
	m.stats.Evicted++
}

// derived is an object or a body that was made from an entry.
type derived struct {
	object runtime.Object
	body   []byte
	size   int64
	slot   *slot
	used   atomic.Bool // since it entered the queue of the memo
	next   *derived    // guarded by the memo's mu
}

// slot holds the value of an entry in one form.
type slot struct {
	form Form
	next *slot

	// making is set while a reader makes the value. The reader closes the channel at the end.
	making atomic.Pointer[chan struct{}]
	value  atomic.Pointer[derived]
}

// load returns the value and marks it as used. It returns nil if there is no value.
func (s *slot) load() *derived {
	d := s.value.Load()
	if d != nil && !d.used.Load() {
		d.used.Store(true)
	}
	return d
}

// value returns the value of a form. The first reader makes it. Concurrent readers wait for it,
// until their contexts end at most. An error is returned to the reader that made the attempt; the
// next reader tries again.
func (e *Entry) value(ctx context.Context, form Form, produce func(context.Context) (*derived, error)) (*derived, error) {
	s := e.slot(form)
	for {
		if d := s.load(); d != nil {
			return d, nil
		}
		ended := make(chan struct{})
		if s.making.CompareAndSwap(nil, &ended) {
			defer close(ended)
			defer s.making.Store(nil)
			return s.produce(ctx, e.decoder.Memo, produce)
		}
		other := s.making.Load()
		if other == nil {
			continue
		}
		select {
		case <-*other:
		case <-ctx.Done():
			return nil, interrupted(ctx, e.Key, e.Revision)
		}
	}
}

// produce makes the value and adds it to the memo. Only the reader that has set making calls it.
func (s *slot) produce(ctx context.Context, memo *Memo, produce func(context.Context) (*derived, error)) (*derived, error) {
	if d := s.load(); d != nil {
		return d, nil
	}
	d, err := produce(ctx)
	if err != nil {
		return nil, err
	}
	d.slot = s
	s.value.Store(d)
	if memo != nil {
		memo.add(d)
	}
	return d, nil
}

// find returns the slot of a form, nil if it does not exist.
func (e *Entry) find(form Form) *slot {
	for s := e.slots.Load(); s != nil; s = s.next {
		if s.form == form {
			return s
		}
	}
	return nil
}

// slot returns the slot of a form, and creates it if it does not exist. Slots are never removed.
func (e *Entry) slot(form Form) *slot {
	for {
		first := e.slots.Load()
		if s := e.find(form); s != nil {
			return s
		}
		s := &slot{form: form, next: first}
		if e.slots.CompareAndSwap(first, s) {
			return s
		}
	}
}
