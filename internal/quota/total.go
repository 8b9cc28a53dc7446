package quota

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/resourcelist"
	"github.com/miniapi/miniapi/storage"
)

// Total is the usage of all objects of a resource in a namespace.
type Total struct {
	// Used has the names of the limits of the quota that apply to the objects.
	Used corev1.ResourceList
	// Until is the first time at which the usage changes without a write, and zero if it does not.
	Until time.Time
}

// Total returns the usage of stored objects at a time that status.hard of a quota limits. It is an
// error if an object must be decoded and cannot be.
func (e Evaluator) Total(quota *corev1.ResourceQuota, entries []*storage.Entry, now time.Time) (Total, error) {
	total := Total{Used: corev1.ResourceList{}}
	for _, name := range e.Counted(quota.Status.Hard) {
		total.Used[name] = newQuantity(0)
	}
	for _, entry := range entries {
		if err := e.add(&total, quota, entry, now); err != nil {
			return Total{}, err
		}
	}
	return total, nil
}

func (e Evaluator) add(total *Total, quota *corev1.ResourceQuota, entry *storage.Entry, now time.Time) error {
	var obj runtime.Object
	if !e.uniform {
		var err error
		if obj, err = entry.Object(); err != nil {
			return err
		}
	}
	if !e.Matches(quota, obj) {
		return nil
	}
	for name, quantity := range e.usage(obj, now) {
		if _, limited := total.Used[name]; limited {
			resourcelist.Add(total.Used, corev1.ResourceList{name: quantity})
		}
	}
	if e.until == nil {
		return nil
	}
	if until := e.until(obj); until.After(now) && (total.Until.IsZero() || until.Before(total.Until)) {
		total.Until = until
	}
	return nil
}
