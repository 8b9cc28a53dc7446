package verify

import (
	"errors"
	"fmt"

	"github.com/miniapi/miniapi/storage/storagetest/model"
	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// The guarantees beyond package model.
var (
	// ErrAtomic: two changes have the same revision.
	ErrAtomic = errors.New("Atomic: a revision has the change of one request, which comes as a whole")
	// ErrFilterable: a watch reported an object that it does not select.
	ErrFilterable = errors.New("Filterable: a watch reports the objects that it selects")
	// ErrPrevKV: an event contradicts the version before it.
	ErrPrevKV = errors.New("PrevKV: the type of an event, and the object of a deletion, are of the version before it")
	// ErrFinalized: an object was removed although it had a finalizer.
	ErrFinalized = errors.New("Finalized: an object with a finalizer is not removed")
	// ErrMerged: a write changed a field that it does not set, or did not set one.
	ErrMerged = errors.New("Merged: a write sets its fields and no others")
	// ErrVersions: two acknowledged writes have the same revision.
	ErrVersions = errors.New("Versions: each write has a resourceVersion of its own")
	// ErrContent: a read returned another object than the stored one.
	ErrContent = errors.New("Content: a read returns the stored object")
	// ErrCaches: the cache of an informer differs from a list.
	ErrCaches = errors.New("Caches: informers converge to the state")
)

// Record is everything that the clients of a run have observed.
type Record struct {
	Operations []traffic.Operation
	Lists      []model.List
	Watches    []model.Watch
	// Faults are responses that a correct server does not send.
	Faults []error
	// Removals are the intervals of revisions in which the servers remove or mark Widgets, because
	// their definition is deleted.
	Removals []Interval
}

// Interval is an interval of revisions, both ends included.
type Interval struct{ From, To int64 }

// Check returns all contradictions between a record and the history of etcd.
func Check(changes []model.Change, record Record) []error {
	h, err := newHistory(changes)
	if err != nil {
		return []error{err}
	}
	c := &checker{history: h, errs: record.Faults, removed: map[int64]bool{}}
	c.log.Lists, c.log.Watches = record.Lists, record.Watches
	for _, o := range record.Operations {
		c.operation(o)
	}
	for _, o := range c.unknown {
		c.deletion(o)
	}
	c.versions()
	c.removals(record.Removals)
	c.finalizers()
	for _, w := range record.Watches {
		c.watch(w)
	}
	if err := model.Check(h.model, &c.log); err != nil {
		c.errs = append(c.errs, unjoin(err)...)
	}
	return append(c.errs, linearizable(c.steps)...)
}

// unjoin returns the errors that errors.Join has joined.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// checker translates a record into the log of package model and the steps of Porcupine.
type checker struct {
	history *history
	log     model.Log
	steps   []step
	errs    []error
	// removed has the revisions at which an acknowledged update has removed an object.
	removed map[int64]bool
	// unknown has the deletions of unknown outcome. They explain the changes that no acknowledged
	// deletion explains.
	unknown []traffic.Operation
}

func (c *checker) fail(guarantee error, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%w: %s", guarantee, fmt.Sprintf(format, args...)))
}

// operation adds an operation.
func (c *checker) operation(o traffic.Operation) {
	switch {
	case o.Outcome == traffic.Refused || o.Verb == traffic.Get:
		c.observation(o)
	case (o.Verb == traffic.Delete || removes(o)) && o.Outcome == traffic.Unknown:
		c.unknown = append(c.unknown, o)
	case o.Verb == traffic.Delete || removes(o):
		c.deletion(o)
	default:
		c.write(o)
	}
}

// removes reports whether an update removes the last finalizer of an object that is being deleted.
func removes(o traffic.Operation) bool {
	return o.Verb == traffic.Update && o.BaseObject.Deleting && !o.Written.Finalized
}

func (c *checker) observation(o traffic.Operation) {
	seen := model.Observation{Span: o.Span, Key: o.Key, Saw: o.Saw, Any: o.Any, Revision: o.Base}
	switch {
	case o.Outcome == traffic.Unknown || o.Saw == "":
		return
	case o.Outcome == traffic.OK:
		seen.Revision = o.Result.Revision
		if stored, _ := c.history.find(seen.Revision); stored.Object != o.Result.Model() || stored.Key != o.Key {
			c.fail(ErrContent, "%+v, stored is %+v", o, stored)
		}
	case o.Verb == traffic.Get && o.Saw == model.SawVersion: // refused
		return
	}
	c.log.Observations = append(c.log.Observations, seen)
	if !seen.Any {
		c.steps = append(c.steps, step{Operation: o, kind: seen.Saw, revision: seen.Revision})
	}
}

// write adds a write that stores a value.
func (c *checker) write(o traffic.Operation) {
	w := model.Write{Span: o.Span, Key: o.Key, Object: o.Result.Model(), Revision: o.Result.Revision, Base: o.Base}
	if o.Outcome == traffic.Unknown {
		change, ok := c.history.byValue[o.Written.Value]
		if !ok {
			return // it has not happened
		}
		w.Unknown, w.Object, w.Revision = true, change.Object, change.Revision
	}
	replaced := c.history.before(o.Key, w.Revision)
	if o.Base == 0 && o.Verb != traffic.Create {
		w.Base = replaced.Revision
	}
	if want := merged(o, replaced.Object); w.Object != want {
		c.fail(ErrMerged, "%+v stored %+v, want %+v", o, w.Object, want)
	}
	c.steps = append(c.steps, step{Operation: o, kind: stepWrite, base: w.Base, revision: w.Revision})
	if w.Unknown {
		w.Revision = 0
	}
	c.log.Writes = append(c.log.Writes, w)
}

// merged returns the object that a write has to store over another one.
func merged(o traffic.Operation, replaced model.Object) model.Object {
	next := o.Written
	switch o.Verb {
	case traffic.Patch:
		next.Colour = replaced.Colour
		fallthrough
	case traffic.Apply:
		next.Finalized, next.Deleting = traffic.IsFinalized(replaced), traffic.IsDeleting(replaced)
	}
	return next.Model()
}

// base adds the observation that the base of a write was the current version.
func (c *checker) base(o traffic.Operation) {
	if o.Outcome == traffic.OK {
		c.log.Observations = append(c.log.Observations, model.Observation{Span: o.Span, Key: o.Key, Saw: model.SawVersion, Revision: o.Base})
	}
}

// deletion adds a deletion, or an update that removes an object.
func (c *checker) deletion(o traffic.Operation) {
	next := c.history.after(o.Key, o.Base)
	marked := o.BaseObject
	marked.Deleting = true
	w := model.Write{Span: o.Span, Key: o.Key, Revision: next.Revision, Base: o.Base, Unknown: o.Outcome == traffic.Unknown}
	switch {
	case o.Verb == traffic.Update || !o.BaseObject.Finalized:
		w.Deleted = true
	case o.BaseObject.Deleting: // nothing to change
		c.base(o)
		return
	default:
		w.Object = marked.Model()
	}
	if o.Verb == traffic.Update && c.removed[next.Revision] {
		// As in kube-apiserver, an update that removes the last finalizer succeeds if another one
		// removes the object at the same time.
		c.base(o)
		return
	}
	happened := next.Object == w.Object && next.Deleted == w.Deleted && next.Revision > 0
	switch {
	case w.Unknown && happened:
		w.Revision = 0
		c.log.Writes = append(c.log.Writes, w)
		c.unclaimed(o, w, next)
	case !w.Unknown:
		c.removed[next.Revision] = o.Verb == traffic.Update
		c.log.Writes = append(c.log.Writes, w)
		c.steps = append(c.steps, stepOf(o, w.Deleted, o.Base, next.Revision))
	}
}
