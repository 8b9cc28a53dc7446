package registry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDecideDeletion(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(offset int) *metav1.Time { m := metav1.NewTime(now.Add(seconds(int64(offset)))); return &m }
	grace := func(n int64) *int64 { return &n }
	gracePeriod := func(n int64) *metav1.DeleteOptions { return metav1.NewDeleteOptions(n) }
	policy := func(p metav1.DeletionPropagation) *metav1.DeleteOptions {
		return &metav1.DeleteOptions{PropagationPolicy: &p}
	}
	orphan := func(b bool) *metav1.DeleteOptions { return &metav1.DeleteOptions{OrphanDependents: &b} }
	graceful := DeleteStrategy{GracePeriod: func(_ runtime.Object, o *metav1.DeleteOptions) *int64 {
		if o.GracePeriodSeconds == nil {
			return grace(30)
		}
		return o.GracePeriodSeconds
	}}
	held := DeleteStrategy{
		Holds: func(runtime.Object) bool { return true },
		Mark:  func(obj runtime.Object, _ *metav1.DeleteOptions) { obj.(*corev1.Pod).Status.Phase = "Marked" },
	}
	type meta = metav1.ObjectMeta
	for _, c := range []struct {
		rule     string
		strategy DeleteStrategy
		options  *metav1.DeleteOptions
		stored   meta
		want     deleteVerdict
		marked   meta
	}{
		{rule: "an object without finalizers is removed", stored: meta{Generation: 1}, want: deleteRemove, marked: meta{Generation: 1}},
		{
			rule: "finalizers: marked with a grace period of zero, and the generation rises", stored: meta{Generation: 1, Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Generation: 2, Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "generation zero does not rise", stored: meta{Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a marked object is not changed by another deletion", stored: meta{Generation: 2, Finalizers: []string{"a/b"}, DeletionTimestamp: at(-9), DeletionGracePeriodSeconds: grace(0)},
			want: deleteMark, marked: meta{Generation: 2, Finalizers: []string{"a/b"}, DeletionTimestamp: at(-9), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "Foreground adds its finalizer", options: policy(metav1.DeletePropagationForeground), stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"foregroundDeletion"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "Orphan adds its finalizer", options: policy(metav1.DeletePropagationOrphan), stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "Orphan replaces Foreground", options: policy(metav1.DeletePropagationOrphan), stored: meta{Finalizers: []string{"foregroundDeletion", "a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b", "orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "Background removes both finalizers", options: policy(metav1.DeletePropagationBackground), stored: meta{Finalizers: []string{"orphan"}}, want: deleteRemove},
		{
			rule: "orphanDependents true means Orphan", options: orphan(true), stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "orphanDependents false means Background", options: orphan(false), stored: meta{Finalizers: []string{"foregroundDeletion"}}, want: deleteRemove},
		{
			rule: "without a policy the finalizer of the object decides", strategy: DeleteStrategy{DefaultPropagation: metav1.DeletePropagationOrphan}, stored: meta{Finalizers: []string{"foregroundDeletion"}},
			want: deleteMark, marked: meta{Finalizers: []string{"foregroundDeletion"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "without a policy and a finalizer the default of the kind decides", strategy: DeleteStrategy{DefaultPropagation: metav1.DeletePropagationOrphan}, stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "a kind without dependents ignores the policy", strategy: DeleteStrategy{NoDependents: true}, options: policy(metav1.DeletePropagationOrphan), want: deleteRemove},
		{rule: "a kind without dependents loses the finalizers of the garbage collector", strategy: DeleteStrategy{NoDependents: true}, stored: meta{Finalizers: []string{"orphan"}}, want: deleteRemove},
		{
			rule: "a kind without dependents keeps other finalizers", strategy: DeleteStrategy{NoDependents: true}, stored: meta{Finalizers: []string{"foregroundDeletion", "a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},

		{
			rule: "a grace period: marked until it ends", strategy: graceful, stored: meta{Generation: 1},
			want: deleteMark, marked: meta{Generation: 2, DeletionTimestamp: at(30), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "a grace period of zero: marked and removed", strategy: graceful, options: gracePeriod(0), stored: meta{Generation: 1},
			want: deleteMarkAndRemove, marked: meta{Generation: 2, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a grace period of zero and a finalizer: marked", strategy: graceful, options: gracePeriod(0), stored: meta{Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a running grace period is kept if the request has none", strategy: graceful, stored: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "a running grace period cannot be extended", strategy: graceful, options: gracePeriod(60), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "a running grace period can be shortened, counted from the first deletion", strategy: graceful, options: gracePeriod(20), stored: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMark, marked: meta{Generation: 2, DeletionTimestamp: at(10), DeletionGracePeriodSeconds: grace(20)},
		},
		{
			rule: "a shortened grace period that would end in the past ends in one second", strategy: graceful, options: gracePeriod(5), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMark, marked: meta{DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(1)},
		},
		{
			rule: "a running grace period can be shortened to zero", strategy: graceful, options: gracePeriod(0), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMarkAndRemove, marked: meta{DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a policy does not change finalizers during a grace period", strategy: graceful, options: policy(metav1.DeletePropagationForeground), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "an object whose removal failed is removed", strategy: graceful, stored: meta{DeletionTimestamp: at(-5), DeletionGracePeriodSeconds: grace(0)},
			want: deleteRemove, marked: meta{DeletionTimestamp: at(-5), DeletionGracePeriodSeconds: grace(0)},
		},

		{rule: "an object held by its kind is marked without a grace period", strategy: held, stored: meta{}, want: deleteMark, marked: meta{DeletionTimestamp: at(0)}},
		{
			rule: "a marked object held by its kind is not changed", strategy: held, options: policy(metav1.DeletePropagationForeground), stored: meta{DeletionTimestamp: at(-5)},
			want: deleteKeep, marked: meta{DeletionTimestamp: at(-5)},
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			obj := &corev1.Pod{ObjectMeta: *c.stored.DeepCopy()}
			options := c.options
			if options == nil {
				options = &metav1.DeleteOptions{}
			}
			d := deletion{obj: obj, meta: obj, strategy: &c.strategy, options: options, now: now}
			if got := d.decide(); got != c.want {
				t.Errorf("verdict %d, want %d", got, c.want)
			}
			if diff := cmp.Diff(c.marked, obj.ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if marked := obj.Status.Phase == "Marked"; marked != (c.strategy.Mark != nil && c.want == deleteMark) {
				t.Errorf("Mark of the strategy was called: %v", marked)
			}
		})
	}
}
