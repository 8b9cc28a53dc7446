package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miniapi/miniapi/api/request"
)

// Group is the API group of the test APIs. Faults never select its requests.
const Group = "miniapi.dev"

// Config configures a Set.
type Config struct {
	// Intervene writes the object of a request, see Conflict.InterveningWrite.
	Intervene func(ctx context.Context, target request.Target) error
}

// Set holds the faults of a server. It is safe for concurrent use.
type Set struct {
	config Config
	// active is the list of faults, which does not change. Nil: none.
	active atomic.Pointer[[]*Active]

	mu     sync.Mutex // serializes changes of active, and guards the field below
	lastID int
}

// NewSet returns an empty set.
func NewSet(config Config) *Set { return &Set{config: config} }

// Active is a fault of a set. Its methods are safe for concurrent use.
type Active struct {
	// ID identifies the fault in its set.
	ID    string
	fault Fault
	set   *Set
	ends  time.Time // zero: no limit
	// removed is closed when the fault is removed.
	removed chan struct{}

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	counts Counts
}

// Counts counts the requests of a fault.
type Counts struct {
	// Matched counts the requests that Match selects, apart from its trigger fields.
	Matched int64 `json:"matched"`
	// Injected counts the requests into which the failure was injected.
	Injected int64 `json:"injected"`
	// LastRequest is the method and the URI of the last injected request, LastTime its time.
	LastRequest string    `json:"lastRequest,omitempty"`
	LastTime    time.Time `json:"lastTime,omitzero"`
}

// Add adds a fault, after all others.
func (s *Set) Add(fault Fault) (*Active, error) {
	if err := fault.Validate(); err != nil {
		return nil, err
	}
	a := &Active{fault: fault, set: s, removed: make(chan struct{}), random: rand.New(rand.NewPCG(fault.Match.Seed, 0))}
	if d := fault.Match.Duration.Duration; d > 0 {
		a.ends = time.Now().Add(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	a.ID = strconv.Itoa(s.lastID)
	active := append(slices.Clone(s.List()), a)
	s.active.Store(&active)
	return a, nil
}

// List returns the faults in the order in which they were added.
func (s *Set) List() []*Active {
	if active := s.active.Load(); active != nil {
		return *active
	}
	return nil
}

// Get returns the fault with an ID.
func (s *Set) Get(id string) (*Active, error) {
	for _, a := range s.List() {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no fault %q: it was removed", id)
}

// RemoveAll removes all faults.
func (s *Set) RemoveAll() {
	for _, a := range s.List() {
		a.Remove()
	}
}

// Fault returns the fault.
func (a *Active) Fault() Fault { return a.fault }

// Counts returns the present counts.
func (a *Active) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts
}

// Injected returns the number of requests into which the failure was injected.
func (a *Active) Injected() int64 { return a.Counts().Injected }

// Remove removes the fault and releases the events that it holds. It can be called more than once.
func (a *Active) Remove() {
	s := a.set
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.List()
	i := slices.Index(list, a)
	if i < 0 {
		return
	}
	close(a.removed)
	left := slices.Delete(slices.Clone(list), i, i+1)
	if len(left) == 0 {
		s.active.Store(nil)
		return
	}
	s.active.Store(&left)
}

// Inject implements filters.Injector.
func (s *Set) Inject(r *http.Request) *request.Injection {
	active := s.active.Load()
	if active == nil {
		return nil
	}
	for _, a := range *active {
		if a.fault.applies(r) && a.fault.Match.matches(r) && a.trigger(r) {
			return a.injection(r)
		}
	}
	return nil
}

// trigger counts a matching request and reports whether it is selected.
func (a *Active) trigger(r *http.Request) bool {
	if !a.ends.IsZero() && !time.Now().Before(a.ends) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m, c := &a.fault.Match, &a.counts
	c.Matched++
	selected := (m.Nth == 0 || c.Matched == m.Nth) &&
		(m.Every == 0 || c.Matched%m.Every == 0) &&
		(m.Probability == 0 || a.random.Float64() < m.Probability) &&
		(m.Count == 0 || c.Injected < m.Count)
	if selected {
		c.Injected++
		c.LastRequest, c.LastTime = r.Method+" "+r.RequestURI, time.Now()
	}
	return selected
}
