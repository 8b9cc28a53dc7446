package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/miniapi/miniapi/admission/plugin"
)

// amounts returns a list from pairs of name and quantity.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func limitRange(limits ...corev1.LimitRangeItem) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: named("l"), Spec: corev1.LimitRangeSpec{Limits: limits}}
}

func withResources(requests, limits corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	}
}

func TestLimitRangerDefaults(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.Create("limitranges", limitRange(corev1.LimitRangeItem{
		Type: corev1.LimitTypeContainer, Default: amounts("cpu", "500m", "memory", "1Gi"), DefaultRequest: amounts("cpu", "100m"),
	}))
	pod := mustCreate(e, "pods", newPod("p", func(p *corev1.Pod) {
		withResources(nil, amounts("memory", "2Gi"))(p)
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
	}))
	want := []corev1.ResourceRequirements{
		{Requests: amounts("cpu", "100m", "memory", "2Gi"), Limits: amounts("cpu", "500m", "memory", "2Gi")},
		{Requests: amounts("cpu", "100m", "memory", "1Gi"), Limits: amounts("cpu", "500m", "memory", "1Gi")},
	}
	if diff := cmp.Diff(want, []corev1.ResourceRequirements{pod.Spec.Containers[0].Resources, pod.Spec.InitContainers[0].Resources}); diff != "" {
		t.Error(diff)
	}
	annotation := "LimitRanger plugin set: cpu request for container c; cpu limit for container c; " +
		"cpu, memory request for init container i; cpu, memory limit for init container i"
	if got := pod.Annotations["kubernetes.io/limit-ranger"]; got != annotation {
		t.Errorf("annotation %q, want %q", got, annotation)
	}
}

func TestLimitRangerLimits(t *testing.T) {
	container := corev1.LimitRangeItem{
		Type: corev1.LimitTypeContainer, Min: amounts("cpu", "50m"), Max: amounts("cpu", "1"), MaxLimitRequestRatio: amounts("cpu", "4"),
	}
	whole := container
	whole.Type = corev1.LimitTypePod
	pod := corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amounts("memory", "1Gi")}
	claim := corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Min: amounts("storage", "2Gi")}
	two := func(p *corev1.Pod) {
		withResources(amounts("memory", "600Mi"), amounts("memory", "600Mi"))(p)
		p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
		p.Spec.Containers[1].Name = "d"
	}
	e := newKinds(t, plugin.Config{})
	for _, tc := range []struct {
		rule  string
		limit corev1.LimitRangeItem
		pod   func(*corev1.Pod)
		want  string
	}{
		{"within all limits", container, withResources(amounts("cpu", "100m"), amounts("cpu", "400m")), ""},
		{"missing requests and limits", whole, withResources(nil, nil),
			`pods "p" is forbidden: [minimum cpu usage per Pod is 50m.  No request is specified, maximum cpu usage per Pod is 1.  No limit is specified, ` +
				`cpu max limit to request ratio per Pod is 4, but no request is specified or request is 0]`},
		{"a request below the minimum", container, withResources(amounts("cpu", "20m"), amounts("cpu", "60m")),
			`pods "p" is forbidden: minimum cpu usage per Container is 50m, but request is 20m`},
		{"a limit above the maximum", container, withResources(nil, amounts("cpu", "2")),
			`pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2`},
		{"a ratio of limit to request above the maximum", container, withResources(amounts("cpu", "100m"), amounts("cpu", "450m")),
			`pods "p" is forbidden: cpu max limit to request ratio per Container is 4, but provided ratio is 4.500000`},
		{"the sum of the containers exceeds the maximum of the pod", pod, two,
			`pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1200Mi`},
		{"resources of the pod take precedence", pod, func(p *corev1.Pod) {
			two(p)
			for i := range p.Spec.Containers {
				p.Spec.Containers[i].Resources.Requests = amounts("memory", "100Mi")
			}
			p.Spec.Resources = &corev1.ResourceRequirements{Limits: amounts("memory", "1Gi"), Requests: amounts("memory", "1Gi")}
		}, ""},
		{"init containers do not add to containers", pod, func(p *corev1.Pod) {
			withResources(nil, amounts("memory", "600Mi"))(p)
			p.Spec.InitContainers = []corev1.Container{*p.Spec.Containers[0].DeepCopy()}
			p.Spec.InitContainers[0].Name = "i"
		}, ""},
		{"sidecars add to containers", pod, func(p *corev1.Pod) {
			withResources(nil, amounts("memory", "600Mi"))(p)
			p.Spec.InitContainers = []corev1.Container{*p.Spec.Containers[0].DeepCopy()}
			p.Spec.InitContainers[0].Name = "i"
			p.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}, `pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1200Mi`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			e.Create("limitranges", limitRange(tc.limit))
			defer func() {
				if _, err := e.Store("limitranges").Delete(t.Context(), deletion("l")); err != nil {
					t.Error(err)
				}
			}()
			if _, failure := e.tryWith("pods", newPod("p", tc.pod), dry()); failure != tc.want {
				t.Errorf("got %q\nwant %q", failure, tc.want)
			}
		})
	}
	e.Create("limitranges", limitRange(claim))
	want := `persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi`
	if _, failure := e.try("persistentvolumeclaims", newClaim("c")); failure != want {
		t.Errorf("got %q\nwant %q", failure, want)
	}
}
