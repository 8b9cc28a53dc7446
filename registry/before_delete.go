package registry

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// deleteVerdict is the effect of a deletion on an object.
type deleteVerdict int

const (
	// deleteKeep: the object is being deleted already and does not change.
	deleteKeep deleteVerdict = iota
	// deleteMark: the object is marked as being deleted and kept.
	deleteMark
	// deleteRemove: the object is removed.
	deleteRemove
	// deleteMarkAndRemove: the object is marked and then removed.
	deleteMarkAndRemove
)

// deletion decides about one state of an object. It has no side effects other than on obj, the
// state to store, and on options, which admission receives.
type deletion struct {
	obj      runtime.Object
	meta     metav1.Object // of obj
	strategy *DeleteStrategy
	options  *metav1.DeleteOptions
	now      time.Time
}

// decide marks the object as being deleted if necessary, and returns the verdict.
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

// hold marks an object that its kind keeps. It sets no grace period: the kind releases the object
// when its own condition is met.
func (d *deletion) hold() deleteVerdict {
	if d.meta.GetDeletionTimestamp() != nil {
		return deleteKeep
	}
	now := metav1.NewTime(d.now)
	d.meta.SetDeletionTimestamp(&now)
	d.requireUID()
	if d.strategy.Mark != nil {
		d.strategy.Mark(d.obj, d.options)
	}
	return deleteMark
}

// requireUID adds a precondition of the UID to the options.
func (d *deletion) requireUID() {
	if d.options.Preconditions == nil {
		d.options.Preconditions = &metav1.Preconditions{}
	}
	if d.options.Preconditions.UID == nil {
		d.options.Preconditions.UID = new(d.meta.GetUID())
	}
}

// grace starts or shortens the grace period. pending is true if the current grace period ends no
// later than the requested one.
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
	d.options.GracePeriodSeconds = period
	d.raiseGeneration()
	d.schedule(d.now.Add(seconds(*period)), *period)
	return true, false
}

// shorten shortens the current grace period, and never extends it. A current period of zero means
// that an earlier removal failed: the object is removed now.
func (d *deletion) shorten() (graceful, pending bool) {
	stored := d.meta.GetDeletionGracePeriodSeconds()
	if stored == nil || *stored == 0 {
		return false, false
	}
	current := max(*stored, 1)
	requested := d.options.GracePeriodSeconds
	if requested == nil || *requested >= current {
		return false, true
	}
	period := *requested
	end := d.meta.GetDeletionTimestamp().Add(seconds(period - current))
	if end.Before(d.now) {
		end = d.now
		// A requested period above zero remains at least one second, so that the process that
		// ends the object gracefully still receives the event.
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

// raiseGeneration increments the generation, because a deletion counts as a change of the desired
// state. Kinds without generations are not changed.
func (d *deletion) raiseGeneration() {
	if generation := d.meta.GetGeneration(); generation > 0 {
		d.meta.SetGeneration(generation + 1)
	}
}

// finalizers returns the finalizers of the object, with the finalizer of the garbage collector for
// the propagation policy.
func (d *deletion) finalizers() []string {
	current := d.meta.GetFinalizers()
	collector := d.collectorFinalizer()
	var kept []string
	for _, f := range current {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			kept = append(kept, f)
		}
	}
	if collector != "" {
		kept = append(kept, collector)
	}
	if sameSet(current, kept) {
		return current
	}
	return kept
}

// collectorFinalizer returns the garbage collector's finalizer for the propagation policy, "" for
// background deletion. The options take precedence, then the finalizers of the object, then the
// default of the kind.
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
