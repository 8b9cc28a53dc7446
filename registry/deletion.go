package registry

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deleteVerdict is what deleting an object means.
type deleteVerdict int

const (
	// deleteKeep: it is being deleted already and stays as it is.
	deleteKeep deleteVerdict = iota
	// deleteMark: it is marked and stays until something else is done.
	deleteMark
	// deleteRemove: it goes.
	deleteRemove
	// deleteMarkAndRemove: it is marked, and goes at once.
	deleteMarkAndRemove
)

// deletion is the decision on one state of an object. It reads and writes
// nothing but its members, of which obj becomes the state to store.
type deletion struct {
	obj      runtime.Object
	meta     metav1.Object // of obj
	strategy *DeleteStrategy
	options  *metav1.DeleteOptions
	now      time.Time
}

// decide marks the object as far as it has to be, and tells what is to be done.
func (d *deletion) decide() deleteVerdict {
	if d.strategy.Holds != nil && d.strategy.Holds(d.obj) {
		return d.hold()
	}
	graceful, pending := d.grace()
	if pending {
		return deleteKeep
	}
	d.meta.SetFinalizers(d.finalizers())
	kept := len(d.meta.GetFinalizers()) > 0
	if !graceful {
		if !kept {
			return deleteRemove
		}
		d.markNow()
	}
	if kept || *d.meta.GetDeletionGracePeriodSeconds() > 0 {
		return deleteMark
	}
	return deleteMarkAndRemove
}

// hold marks an object that its kind keeps. It sets no grace period: the kind
// releases the object when its own condition is met.
func (d *deletion) hold() deleteVerdict {
	if d.meta.GetDeletionTimestamp() != nil {
		return deleteKeep
	}
	now := metav1.NewTime(d.now)
	d.meta.SetDeletionTimestamp(&now)
	if d.strategy.Mark != nil {
		d.strategy.Mark(d.obj, d.options)
	}
	return deleteMark
}

// grace starts or shortens the grace period. pending: the object has one that
// ends no later than what is asked for.
func (d *deletion) grace() (graceful, pending bool) {
	if d.strategy.GracePeriod == nil {
		return false, false
	}
	if d.meta.GetDeletionTimestamp() != nil {
		return d.shorten()
	}
	period := d.strategy.GracePeriod(d.obj, d.options)
	if period == nil {
		return false, false
	}
	d.raiseGeneration()
	d.schedule(d.now.Add(seconds(*period)), *period)
	return true, false
}

// shorten moves the end of a grace period that runs towards the present, never
// away from it. A period of nothing means that the removal failed: do it now.
func (d *deletion) shorten() (graceful, pending bool) {
	stored := d.meta.GetDeletionGracePeriodSeconds()
	if stored == nil || *stored == 0 {
		return false, false
	}
	running := max(*stored, 1)
	asked := d.options.GracePeriodSeconds
	if asked == nil || *asked >= running {
		return false, true
	}
	period := *asked
	end := d.meta.GetDeletionTimestamp().Add(seconds(period - running))
	if end.Before(d.now) {
		end = d.now
		// Who asked for some time gets the least there is, so that whoever
		// ends the object gracefully still sees it.
		period = min(period, 1)
	}
	d.schedule(end, period)
	return true, false
}

func (d *deletion) schedule(end time.Time, period int64) {
	at := metav1.NewTime(end)
	d.meta.SetDeletionTimestamp(&at)
	d.meta.SetDeletionGracePeriodSeconds(&period)
}

// markNow marks an object that only its finalizers keep.
func (d *deletion) markNow() {
	since := d.meta.GetDeletionTimestamp()
	if since == nil {
		d.raiseGeneration()
	}
	if since == nil || since.After(d.now) {
		d.schedule(d.now, 0)
		return
	}
	d.schedule(since.Time, 0)
}

// raiseGeneration: being deleted counts as a change of what is wanted, in kinds
// that count.
func (d *deletion) raiseGeneration() {
	if generation := d.meta.GetGeneration(); generation > 0 {
		d.meta.SetGeneration(generation + 1)
	}
}

// finalizers returns those of the object with the two of the garbage collector
// as the propagation policy demands.
func (d *deletion) finalizers() []string {
	current := d.meta.GetFinalizers()
	wanted := d.collectorFinalizer()
	var kept []string
	for _, f := range current {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			kept = append(kept, f)
		}
	}
	if wanted != "" {
		kept = append(kept, wanted)
	}
	if sameSet(current, kept) {
		return current
	}
	return kept
}

// collectorFinalizer returns which finalizer tells the garbage collector what
// to do with the object's dependents, "" if it may do so in the background. The
// options come first, then what the object has, then the kind's default.
func (d *deletion) collectorFinalizer() string {
	if d.strategy.NoDependents {
		return ""
	}
	if orphan := d.options.OrphanDependents; orphan != nil { //nolint:staticcheck // deprecated, and still sent
		if *orphan {
			return metav1.FinalizerOrphanDependents
		}
		return ""
	}
	if policy := d.options.PropagationPolicy; policy != nil {
		return finalizerOf(*policy)
	}
	for _, f := range d.meta.GetFinalizers() {
		if f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents {
			return f
		}
	}
	return finalizerOf(d.strategy.DefaultPropagation)
}

func finalizerOf(policy metav1.DeletionPropagation) string {
	switch policy {
	case metav1.DeletePropagationOrphan:
		return metav1.FinalizerOrphanDependents
	case metav1.DeletePropagationForeground:
		return metav1.FinalizerDeleteDependents
	default:
		return ""
	}
}

func sameSet(a, b []string) bool {
	contains := func(in []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(in, s) }
	}
	return !slices.ContainsFunc(a, contains(b)) && !slices.ContainsFunc(b, contains(a))
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
