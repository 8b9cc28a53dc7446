package storage

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultMemo is a limit for a memo in bytes, enough for the bodies of 10,000 pods in one encoding
// beside the share of the objects.
const DefaultMemo = 72 << 20

// objectShare is the divisor of a memo's limit that yields the limit of its decoded objects. Few
// requests need an object again: lists and watches are answered from bodies. Objects are also the
// largest values, and each update adds one.
const objectShare = 4

// memoInterval is the time between two searches for unused values.
const memoInterval = 15 * time.Second

// Memo keeps objects and bodies that were derived from entries, up to a number of bytes. It evicts
// by the second-chance algorithm, objects before bodies if the objects exceed their share. While
// Run runs, it also evicts values that no reader uses. An evicted value is made again on demand,
// and callers that hold it may go on using it. A Memo is safe for concurrent use, and a hit takes
// no lock.
type Memo struct {
	limit int64
	// filled receives a value when the first value is added to an empty memo.
	filled chan struct{}

	mu              sync.Mutex // guards the fields below
	objects, bodies evictionQueue
	made, evicted   uint64
}

// evictionQueue holds values in the order of their eviction. Values enter it when they are added,
// and again when they are spared.
type evictionQueue struct {
	oldest, newest *derived
	bytes          int64
}

// MemoStats are the statistics of a memo.
type MemoStats struct {
	Bytes   int64  // kept now; the size of objects is an estimate
	Made    uint64 // values added
	Evicted uint64 // values evicted
}

// NewMemo returns a memo of at most limit bytes.
func NewMemo(limit int64) *Memo { return &Memo{limit: limit, filled: make(chan struct{}, 1)} }

// Run evicts each value that no reader has used for 15 to 30 seconds, until ctx ends, which is no
// error. It has no timer while the memo is empty.
func (m *Memo) Run(ctx context.Context) error {
	for {
		select {
		case <-m.filled:
			m.evictUnused(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// evictUnused evicts unused values in intervals until the memo is empty or ctx ends.
func (m *Memo) evictUnused(ctx context.Context) {
	ticker := time.NewTicker(memoInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		m.mu.Lock()
		m.evicted += m.objects.removeUnused() + m.bodies.removeUnused()
		empty := m.objects.oldest == nil && m.bodies.oldest == nil
		m.mu.Unlock()
		if empty {
			return
		}
	}
}

// Stats returns the current statistics.
func (m *Memo) Stats() MemoStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return MemoStats{Bytes: m.objects.bytes + m.bodies.bytes, Made: m.made, Evicted: m.evicted}
}

// add adds the value of a slot. A value above the limit is evicted at once.
func (m *Memo) add(d *derived) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made++
	if m.objects.oldest == nil && m.bodies.oldest == nil {
		select {
		case m.filled <- struct{}{}:
		default:
		}
	}
	queue := &m.bodies
	if d.slot.form == objectForm {
		queue = &m.objects
	}
	queue.push(d)
	queue.bytes += d.size
	for m.objects.bytes > m.limit/objectShare {
		m.evict(&m.objects, m.limit/objectShare)
	}
	for m.objects.bytes+m.bodies.bytes > m.limit {
		m.evict(&m.bodies, m.limit)
	}
}

// evict removes the oldest value of a queue, or moves it to the end of the queue if it was used
// since it entered the queue and does not exceed the limit by itself. The caller holds mu.
func (m *Memo) evict(queue *evictionQueue, limit int64) {
	d := queue.pop()
	if d.used.CompareAndSwap(true, false) && d.size <= limit {
		queue.push(d)
		return
	}
	queue.forget(d)
	m.evicted++
}

// push appends a value.
func (q *evictionQueue) push(d *derived) {
	if q.newest == nil {
		q.oldest = d
	} else {
		q.newest.next = d
	}
	q.newest = d
}

// pop removes the oldest value. The queue must not be empty.
func (q *evictionQueue) pop() *derived {
	d := q.oldest
	if q.oldest = d.next; q.oldest == nil {
		q.newest = nil
	}
	d.next = nil
	return d
}

// forget removes a value that is not in the list any more from its slot and from the number of
// bytes.
func (q *evictionQueue) forget(d *derived) {
	d.slot.value.CompareAndSwap(d, nil)
	q.bytes -= d.size
}

// removeUnused removes the values that were in the queue at the previous call and were not used
// since then, and returns their number.
func (q *evictionQueue) removeUnused() (removed uint64) {
	values := q.oldest
	q.oldest, q.newest = nil, nil
	for values != nil {
		d := values
		values, d.next = d.next, nil
		used := d.used.Swap(false)
		if d.unused && !used {
			q.forget(d)
			removed++
			continue
		}
		d.unused = !used
		q.push(d)
	}
	return removed
}

// derived is an object or a body that was made from an entry.
type derived struct {
	object runtime.Object
	body   []byte
	size   int64
	slot   *slot
	used   atomic.Bool // since it entered the queue of the memo, or since the last removeUnused
	unused bool        // between two calls of removeUnused; guarded by the memo's mu
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
