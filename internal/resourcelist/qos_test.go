package resourcelist

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQOSClass(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	container := func(requests, limits corev1.ResourceList) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}}
	}
	ofPod := func(spec corev1.PodSpec, r corev1.ResourceRequirements) corev1.PodSpec {
		spec.Resources = &r
		return spec
	}
	hugePages := corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")}
	for _, tc := range []struct {
		rule string
		spec corev1.PodSpec
		want corev1.PodQOSClass
	}{
		{"no containers", corev1.PodSpec{}, corev1.PodQOSBestEffort},
		{"zero", container(list("0", "0"), nil), corev1.PodQOSBestEffort},
		{"limits equal to requests", container(list("1", "1"), list("1", "1")), corev1.PodQOSGuaranteed},
		{"a request of zero", container(list("0", "1"), list("1", "1")), corev1.PodQOSBurstable},
		{"cpu only", container(list("1", "0"), list("1", "0")), corev1.PodQOSBurstable},
		{"resources of the pod", ofPod(container(nil, nil), corev1.ResourceRequirements{Requests: list("1", "1"), Limits: list("1", "1")}), corev1.PodQOSGuaranteed},
		{"huge pages of the pod", ofPod(container(list("1", "1"), nil), corev1.ResourceRequirements{Requests: hugePages, Limits: hugePages}), corev1.PodQOSBestEffort},
		{"empty resources of the pod", ofPod(container(list("1", "1"), nil), corev1.ResourceRequirements{}), corev1.PodQOSBurstable},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := QOSClass(&tc.spec); got != tc.want {
				t.Errorf("class %s, want %s", got, tc.want)
			}
		})
	}
}
