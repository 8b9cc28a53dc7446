package reconcile

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/internal/apitime"
)

// After lost changes the objects known so far are reconciled too, because some may be deleted.
// Required objects are reconciled even if no change has named them.
func TestResetQueuesKnownAndRequiredObjects(t *testing.T) {
	var activity Activity
	config := Config{Clock: apitime.New(nil), Activity: &activity, Logger: slog.New(slog.DiscardHandler)}
	r := New(config, Spec[*corev1.Pod]{Name: "test", Required: []string{"required"}}).(*reconciler[*corev1.Pod])
	r.objects.set("namespace", "known", true)
	r.Reset()
	defer r.queue.start().ShutDown()
	work, _ := activity.Pending(0)
	if diff := cmp.Diff([]string{"test: required, namespace/known"}, work); diff != "" {
		t.Error(diff)
	}
	if len(r.objects) != 0 {
		t.Errorf("objects after the reset: %v", r.objects)
	}
}
