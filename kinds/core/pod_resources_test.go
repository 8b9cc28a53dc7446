package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/miniapi/miniapi/kinds/feature"
)

// amounts returns a list of the names and quantities.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func TestResourcesOfThePod(t *testing.T) {
	own := func(limits, requests corev1.ResourceList) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: limits, Requests: requests}
	}
	for _, tc := range []struct {
		rule                     string
		pod                      *corev1.ResourceRequirements
		containers               []corev1.ResourceRequirements
		inDefaulting, afterAdmit *corev1.ResourceRequirements
	}{
		{"no resources of the pod", nil, []corev1.ResourceRequirements{{Limits: amounts("cpu", "1")}}, nil, nil},
		{"requests are the sum of the containers",
			own(amounts("cpu", "4"), nil), []corev1.ResourceRequirements{{Requests: amounts("cpu", "1")}, {Requests: amounts("cpu", "2")}},
			own(amounts("cpu", "4"), amounts("cpu", "3")), own(amounts("cpu", "4"), amounts("cpu", "3"))},
		{"requests are the limits if no container has requests",
			own(amounts("memory", "1Gi"), nil), []corev1.ResourceRequirements{{}},
			own(amounts("memory", "1Gi"), amounts("memory", "1Gi")), own(amounts("memory", "1Gi"), amounts("memory", "1Gi"))},
		{"limits are the sum of the containers if all have limits",
			own(nil, amounts("cpu", "1")), []corev1.ResourceRequirements{{Limits: amounts("cpu", "1", "memory", "1Gi")}, {Limits: amounts("cpu", "2")}},
			own(nil, amounts("cpu", "1")), own(amounts("cpu", "3"), amounts("cpu", "1", "memory", "1Gi"))},
		{"limits are not lower than the requests",
			own(nil, amounts("cpu", "5")), []corev1.ResourceRequirements{{Limits: amounts("cpu", "1")}},
			own(nil, amounts("cpu", "5")), own(amounts("cpu", "5"), amounts("cpu", "5"))},
		{"huge pages are the sum of the containers",
			own(amounts("cpu", "1"), nil), []corev1.ResourceRequirements{{Limits: amounts("hugepages-2Mi", "4Mi")}},
			own(amounts("cpu", "1", "hugepages-2Mi", "4Mi"), amounts("cpu", "1", "hugepages-2Mi", "4Mi")),
			own(amounts("cpu", "1", "hugepages-2Mi", "4Mi"), amounts("cpu", "1", "hugepages-2Mi", "4Mi"))},
	} {
		for release, want := range map[feature.Release]*corev1.ResourceRequirements{36: tc.inDefaulting, 37: tc.afterAdmit} {
			p := &corev1.Pod{Spec: corev1.PodSpec{Resources: tc.pod.DeepCopy()}}
			for _, r := range tc.containers {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: *r.DeepCopy()})
			}
			strategy := pods(feature.At(release))
			strategy.Versions[0].Default(p)
			strategy.Strategy.Create.Prepare(t.Context(), p)
			if diff := cmp.Diff(want, p.Spec.Resources); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", release, tc.rule, diff)
			}
		}
	}
}
