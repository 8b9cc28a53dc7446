package quota

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// list returns resources from text such as "cpu=1 memory=1Gi".
func list(text string) corev1.ResourceList {
	var l corev1.ResourceList
	for _, field := range strings.Fields(text) {
		name, quantity, _ := strings.Cut(field, "=")
		if l == nil {
			l = corev1.ResourceList{}
		}
		l[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return l
}

func requirements(requests, limits string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}
}

func status(allocated, requests, limits string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "c", AllocatedResources: list(allocated), Resources: new(requirements(requests, limits))}
}

func TestUsageOfAPod(t *testing.T) {
	infeasible := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
	}
	for _, tc := range []struct {
		rule string
		edit func(*corev1.Pod)
		want string
	}{
		{"requests and limits", func(*corev1.Pod) {}, "requests.cpu=2 limits.cpu=4"},
		{"allocated resources above the requests", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status("cpu=3", "cpu=1", "cpu=1")}
		}, "requests.cpu=3 limits.cpu=4"},
		{"actual resources above the others", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status("cpu=3", "cpu=5", "cpu=6")}
		}, "requests.cpu=5 limits.cpu=6"},
		{"requests above the actual resources", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status("cpu=1", "cpu=1", "cpu=1")}
		}, "requests.cpu=2 limits.cpu=4"},
		{"an infeasible resize", func(p *corev1.Pod) {
			infeasible(p)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status("cpu=1", "", "cpu=1500m")}
		}, "requests.cpu=1 limits.cpu=1500m"},
		{"an infeasible resize of a container without a status", infeasible, ""},
		{"a deferred resize", func(p *corev1.Pod) {
			infeasible(p)
			p.Status.Conditions[0].Reason = corev1.PodReasonDeferred
			p.Status.ContainerStatuses = []corev1.ContainerStatus{status("cpu=1", "cpu=1", "cpu=1")}
		}, "requests.cpu=2 limits.cpu=4"},
		{"the status of a sidecar", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{
				Name: "i", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Resources: requirements("cpu=1", ""),
			}}
			s := status("", "cpu=3", "")
			s.Name = "i"
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{s}
		}, "requests.cpu=5 limits.cpu=4"},
		{"resources of the pod", func(p *corev1.Pod) {
			p.Spec.Resources = new(requirements("cpu=7 hugepages-2Mi=8Mi", "hugepages-2Mi=8Mi"))
		}, "requests.cpu=7 limits.cpu=4 hugepages-2Mi=8Mi requests.hugepages-2Mi=8Mi"},
		{"overhead adds to requests, and to limits other than zero", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits["memory"] = resource.MustParse("0")
			p.Spec.Overhead = list("cpu=1 memory=1Mi")
		}, "requests.cpu=3 limits.cpu=5 requests.memory=1Mi limits.memory=0"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: requirements("cpu=2", "cpu=4")}}}}
			tc.edit(pod)
			used := podUsage(pod, time.Now())
			for _, name := range []corev1.ResourceName{"count/pods", "pods", "cpu", "memory"} {
				delete(used, name)
			}
			if diff := cmp.Diff(texts(list(tc.want)), texts(used)); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// texts returns a list as text, because equal quantities have several representations.
func texts(l corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		quantity := l[name]
		out = append(out, string(name)+"="+quantity.String())
	}
	return out
}

func TestScopeOfAPodWithResourcesOfItsOwn(t *testing.T) {
	bestEffort := corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopeBestEffort}
	for _, tc := range []struct {
		rule string
		pod  corev1.Pod
		want bool
	}{
		{"huge pages of the pod, cpu of a container", corev1.Pod{Spec: corev1.PodSpec{
			Resources:  new(requirements("hugepages-2Mi=8Mi", "hugepages-2Mi=8Mi")),
			Containers: []corev1.Container{{Resources: requirements("cpu=1", "")}},
		}}, true},
		{"empty resources of the pod, cpu of a container", corev1.Pod{Spec: corev1.PodSpec{
			Resources:  &corev1.ResourceRequirements{},
			Containers: []corev1.Container{{Resources: requirements("cpu=1", "")}},
		}}, false},
		{"the class of the status", corev1.Pod{Status: corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}}, false},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := podInScope(bestEffort, &tc.pod); got != tc.want {
				t.Errorf("best effort: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestConstraintsOfAPodWithResourcesOfItsOwn(t *testing.T) {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}
	names := []corev1.ResourceName{corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory}
	if err := podConstraints(names, &spec); err == nil {
		t.Error("a container without requests is valid")
	}
	spec.Resources = new(requirements("cpu=1", ""))
	if err := podConstraints(names, &spec); err != nil {
		t.Error(err)
	}
}
