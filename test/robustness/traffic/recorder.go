package traffic

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// Outcome is the result of an operation for its client.
type Outcome string

const (
	// OK: the operation was acknowledged.
	OK Outcome = "ok"
	// Refused: the response proves that the operation had no effect.
	Refused Outcome = "refused"
	// Unknown: the operation may or may not have had an effect, now or later.
	Unknown Outcome = "unknown"
)

// Verb is the kind of an operation.
type Verb string

const (
	Create Verb = "create"
	Update Verb = "update"
	Patch  Verb = "patch"
	Apply  Verb = "apply"
	Delete Verb = "delete"
	Get    Verb = "get"
)

// Operation is a read or a write of one object.
type Operation struct {
	model.Span
	Client  int
	Verb    Verb
	Key     string
	Outcome Outcome
	// Base is the resourceVersion that the write requires, 0 if it requires none.
	Base int64
	// Written is the object that a write sends, and BaseObject the object at Base.
	Written, BaseObject Object
	// Result is the object of the response.
	Result Object
	// Saw is what a read or an error shows of the key, "" for nothing.
	Saw model.Visibility
	// Any allows a read of a past state.
	Any bool
	Err string
}

// Writes reports whether the operation is a write.
func (o Operation) Writes() bool { return o.Verb != Get }

// Recorder records operations. All methods may be called concurrently.
type Recorder struct {
	clock  atomic.Int64
	values atomic.Int64

	mu         sync.Mutex // guards the fields below
	operations []Operation
	lists      []model.List
	faults     []error
}

// Tick returns the current time of a clock that ticks at every call and return.
func (r *Recorder) Tick() int64 { return r.clock.Add(1) }

// newValue returns a value that no write has stored.
func (r *Recorder) newValue() string { return fmt.Sprintf("v%d", r.values.Add(1)) }

// Operation records an operation. An operation with an unknown outcome never returns.
func (r *Recorder) Operation(o Operation) {
	o.Return = r.Tick()
	if o.Outcome == Unknown {
		o.Return = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, o)
}

// Operations returns all recorded operations.
func (r *Recorder) Operations() []Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.operations
}

// List records a complete list.
func (r *Recorder) List(l model.List) {
	l.Return = r.Tick()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lists = append(r.lists, l)
}

// Lists returns all recorded lists.
func (r *Recorder) Lists() []model.List {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lists
}

// Fault records a response that a correct server does not send.
func (r *Recorder) Fault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, err)
}

// Faults returns all recorded faults.
func (r *Recorder) Faults() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}
