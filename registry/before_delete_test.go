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
	asked := func(n int64) *metav1.DeleteOptions { return metav1.NewDeleteOptions(n) }
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
		{rule: "nothing keeps it", stored: meta{Generation: 1}, want: deleteRemove, marked: meta{Generation: 1}},
		{
			rule: "finalizers keep it: marked, with a grace period of nothing and a generation more", stored: meta{Generation: 1, Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Generation: 2, Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "no generation is not counted", stored: meta{Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "marked again it stays the same", stored: meta{Generation: 2, Finalizers: []string{"a/b"}, DeletionTimestamp: at(-9), DeletionGracePeriodSeconds: grace(0)},
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
			rule: "Orphan takes the place of Foreground", options: policy(metav1.DeletePropagationOrphan), stored: meta{Finalizers: []string{"foregroundDeletion", "a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b", "orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "Background removes both finalizers", options: policy(metav1.DeletePropagationBackground), stored: meta{Finalizers: []string{"orphan"}}, want: deleteRemove},
		{
			rule: "orphanDependents is Orphan", options: orphan(true), stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "not orphanDependents is Background", options: orphan(false), stored: meta{Finalizers: []string{"foregroundDeletion"}}, want: deleteRemove},
		{
			rule: "without a policy the object's finalizer says it", strategy: DeleteStrategy{DefaultPropagation: metav1.DeletePropagationOrphan}, stored: meta{Finalizers: []string{"foregroundDeletion"}},
			want: deleteMark, marked: meta{Finalizers: []string{"foregroundDeletion"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "without that the kind's default", strategy: DeleteStrategy{DefaultPropagation: metav1.DeletePropagationOrphan}, stored: meta{},
			want: deleteMark, marked: meta{Finalizers: []string{"orphan"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{rule: "nothing depends on it: no policy counts", strategy: DeleteStrategy{NoDependents: true}, options: policy(metav1.DeletePropagationOrphan), want: deleteRemove},
		{rule: "nothing depends on it: what the collector would wait for goes", strategy: DeleteStrategy{NoDependents: true}, stored: meta{Finalizers: []string{"orphan"}}, want: deleteRemove},
		{
			rule: "nothing depends on it: other finalizers stay", strategy: DeleteStrategy{NoDependents: true}, stored: meta{Finalizers: []string{"foregroundDeletion", "a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},

		{
			rule: "a grace period: marked until its end", strategy: graceful, stored: meta{Generation: 1},
			want: deleteMark, marked: meta{Generation: 2, DeletionTimestamp: at(30), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "a grace period of nothing: marked and removed", strategy: graceful, options: asked(0), stored: meta{Generation: 1},
			want: deleteMarkAndRemove, marked: meta{Generation: 2, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a grace period of nothing and a finalizer: marked", strategy: graceful, options: asked(0), stored: meta{Finalizers: []string{"a/b"}},
			want: deleteMark, marked: meta{Finalizers: []string{"a/b"}, DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "one that runs is kept if none is asked for", strategy: graceful, stored: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "one that runs cannot be made longer", strategy: graceful, options: asked(60), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "one that runs can be made shorter, counted from the first deletion", strategy: graceful, options: asked(20), stored: meta{Generation: 2, DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMark, marked: meta{Generation: 2, DeletionTimestamp: at(10), DeletionGracePeriodSeconds: grace(20)},
		},
		{
			rule: "but does not end in the past: a second is left", strategy: graceful, options: asked(5), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMark, marked: meta{DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(1)},
		},
		{
			rule: "unless none is wanted", strategy: graceful, options: asked(0), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteMarkAndRemove, marked: meta{DeletionTimestamp: at(0), DeletionGracePeriodSeconds: grace(0)},
		},
		{
			rule: "a policy does not change finalizers once a grace period runs", strategy: graceful, options: policy(metav1.DeletePropagationForeground), stored: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
			want: deleteKeep, marked: meta{DeletionTimestamp: at(20), DeletionGracePeriodSeconds: grace(30)},
		},
		{
			rule: "a removal that failed is made good", strategy: graceful, stored: meta{DeletionTimestamp: at(-5), DeletionGracePeriodSeconds: grace(0)},
			want: deleteRemove, marked: meta{DeletionTimestamp: at(-5), DeletionGracePeriodSeconds: grace(0)},
		},

		{rule: "its kind keeps it: marked without a grace period", strategy: held, stored: meta{}, want: deleteMark, marked: meta{DeletionTimestamp: at(0)}},
		{
			rule: "and stays as it is when deleted again", strategy: held, options: policy(metav1.DeletePropagationForeground), stored: meta{DeletionTimestamp: at(-5)},
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
				t.Errorf("marked by its kind: %v", marked)
			}
		})
	}
}
