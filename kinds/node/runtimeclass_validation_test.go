package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newRuntimeClass() *nodev1.RuntimeClass {
	return &nodev1.RuntimeClass{
		Handler:    "runc",
		Overhead:   &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"beta.kubernetes.io/os": "linux"}},
	}
}

func TestRuntimeClasses(t *testing.T) {
	type class = nodev1.RuntimeClass
	check := registrytest.Rules(t, newRuntimeClass, func(c *nodev1.RuntimeClass) field.ErrorList {
		return validateRuntimeClass(c, feature.Default())
	})
	check("handler is required", func(c *class) { c.Handler = "" }, "handler: Required value")
	check("overhead is not negative", func(c *class) { c.Overhead.PodFixed["cpu"] = resource.MustParse("-1") },
		`overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`)
	check("tolerations are valid", func(c *class) { c.Scheduling.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpEqual}} },
		"scheduling.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, "+
			"which means \"match all values and all keys\"")
	check("tolerations are unique", func(c *class) {
		c.Scheduling.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}, {Operator: corev1.TolerationOpExists}}
	}, `scheduling.tolerations[1]: Duplicate value: {"Key":"","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}`)
	registrytest.Rules(t, newRuntimeClass, func(c *class) field.ErrorList {
		return validateRuntimeClassUpdate(c, newRuntimeClass(), feature.Default())
	})("it stays", func(c *class) { c.Handler = "gvisor" }, `handler: Invalid value: null: field is immutable`)
	registrytest.Rules(t, newRuntimeClass, func(c *class) field.ErrorList {
		return validateRuntimeClassUpdate(c, newRuntimeClass(), feature.At(36))
	})("older releases show the value", func(c *class) { c.Handler = "gvisor" }, `handler: Invalid value: "gvisor": field is immutable`)
	want := []string{`scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead`}
	if diff := cmp.Diff(want, warningsForSelector(newRuntimeClass())); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
