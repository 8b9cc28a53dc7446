package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestPriorityClassValuesAreImmutable(t *testing.T) {
	old := &schedulingv1.PriorityClass{Value: 10, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	described := old.DeepCopy()
	described.Description = "changed"
	if errs := validatePriorityClassUpdate(described, old); len(errs) != 0 {
		t.Errorf("a description: %v", errs)
	}
	changed := &schedulingv1.PriorityClass{Value: 11, PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority)}
	var got []string
	for _, err := range validatePriorityClassUpdate(changed, old) {
		got = append(got, err.Error())
	}
	want := []string{
		"value: Forbidden: may not be changed in an update.",
		`preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestPriorityClasses(t *testing.T) {
	type class = schedulingv1.PriorityClass
	valid := func() *class {
		return &class{ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"}, Value: 2000001000, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
	}
	const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
	check := registrytest.Rules(t, valid, validatePriorityClass)
	check("the prefix system- is reserved", func(c *class) { c.Name = "system-mine" }, reserved+"system-mine is not a known system priority class")
	check("values of system classes are fixed", func(c *class) { c.Value = 1 }, reserved+"value of system-node-critical PriorityClass must be 2000001000")
	check("a system class is not the global default", func(c *class) { c.GlobalDefault = true }, reserved+"globalDefault of system-node-critical PriorityClass must be false")
	check("values have a maximum", func(c *class) { c.Name, c.Value = "mine", 1000000001 },
		"value: Forbidden: maximum allowed value of a user defined priority is 1000000000")
	check("preemption policies are known", func(c *class) { c.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("x")) },
		`preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"`)
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
