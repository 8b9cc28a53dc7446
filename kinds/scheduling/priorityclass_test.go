package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/utils/ptr"
)

func TestPriorityClassesKeepWhatPodsTookOver(t *testing.T) {
	old := &schedulingv1.PriorityClass{Value: 10, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	described := old.DeepCopy()
	described.Description = "changed"
	if faults := validatePriorityClassUpdate(t.Context(), described, old); len(faults) != 0 {
		t.Errorf("a description: %v", faults)
	}
	changed := &schedulingv1.PriorityClass{Value: 11, PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority)}
	var got []string
	for _, fault := range validatePriorityClassUpdate(t.Context(), changed, old) {
		got = append(got, fault.Error())
	}
	want := []string{
		"value: Forbidden: may not be changed in an update.",
		`preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestSystemClassesAreNotDeleted(t *testing.T) {
	class := &schedulingv1.PriorityClass{}
	class.Name = "system-node-critical"
	err := forbidSystemClass(class)
	want := `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	class.Name = "mine"
	if err := forbidSystemClass(class); err != nil {
		t.Error(err)
	}
}
