package storage

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultMemo is a limit for a memo in bytes, enough for the bodies of 10,000
// pods in one encoding.
const DefaultMemo = 64 << 20

// Memo keeps what was made of the entries of a server, objects and bodies, up
// to a number of bytes. What has not been used for the longest time goes first,
// and is made again when somebody asks; whoever holds it may go on using it.
// Safe for concurrent use: a hit takes no lock.
type Memo struct {
	limit int64

	mu sync.Mutex // guards what follows
	// oldest to newest is the order in which things came, or were spared for
	// having been used since.
	oldest, newest *made
	stats          MemoStats
}

// MemoStats tells what a memo holds and did.
type MemoStats struct {
	Bytes   int64  // held now, the size of objects being estimated
	Made    uint64 // things that were made
	Evicted uint64 // things that had to make room
}

// NewMemo returns a memo of so many bytes at most.
func NewMemo(limit int64) *Memo { return &Memo{limit: limit} }

// Stats returns the numbers as they are now.
func (m *Memo) Stats() MemoStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

// keep takes over what was made for a slot. What is too large to be held is
// forgotten at once.
func (m *Memo) keep(thing *made) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Made++
	m.stats.Bytes += thing.size
	m.push(thing)
	for m.stats.Bytes > m.limit {
		m.evict()
	}
}

// push is called with mu held.
func (m *Memo) push(thing *made) {
	thing.next = nil
	if m.newest == nil {
		m.oldest = thing
	} else {
		m.newest.next = thing
	}
	m.newest = thing
}

// evict drops the oldest thing, or spares it this time if it was used. It is
// called with mu held.
func (m *Memo) evict() {
	thing := m.oldest
	if m.oldest = thing.next; m.oldest == nil {
		m.newest = nil
	}
	if thing.used.CompareAndSwap(true, false) && thing.size <= m.limit {
		m.push(thing)
		return
	}
	thing.next = nil
	thing.slot.thing.CompareAndSwap(thing, nil)
	m.stats.Bytes -= thing.size
	m.stats.Evicted++
}

// made is an object or a body.
type made struct {
	object runtime.Object
	body   []byte
	size   int64
	slot   *slot
	used   atomic.Bool // since the memo looked last
	next   *made       // guarded by the memo's mu
}

// slot is the place of an entry for one form.
type slot struct {
	form Form
	next *slot

	// making is closed when the reader that makes the thing has ended; nil: no reader makes it.
	making atomic.Pointer[chan struct{}]
	thing  atomic.Pointer[made]
}

// hit returns the thing if it is there.
func (s *slot) hit() *made {
	thing := s.thing.Load()
	if thing != nil && !thing.used.Load() {
		thing.used.Store(true)
	}
	return thing
}

// value returns the thing of a form, which the first reader makes. The others wait for it, but no
// longer than their contexts. An error is that reader's own: the next one tries again.
func (e *Entry) value(ctx context.Context, form Form, produce func(context.Context) (*made, error)) (*made, error) {
	s := e.slot(form)
	for {
		if thing := s.hit(); thing != nil {
			return thing, nil
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

// produce makes the thing, and gives it to the memo. Only the reader that making stands for calls
// it.
func (s *slot) produce(ctx context.Context, memo *Memo, produce func(context.Context) (*made, error)) (*made, error) {
	if thing := s.hit(); thing != nil {
		return thing, nil
	}
	thing, err := produce(ctx)
	if err != nil {
		return nil, err
	}
	thing.slot = s
	s.thing.Store(thing)
	if memo != nil {
		memo.keep(thing)
	}
	return thing, nil
}

// find returns the slot of a form, nil if there is none yet.
func (e *Entry) find(form Form) *slot {
	for s := e.slots.Load(); s != nil; s = s.next {
		if s.form == form {
			return s
		}
	}
	return nil
}

// slot returns the slot of a form. Slots are only ever added.
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
