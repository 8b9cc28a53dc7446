package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
)

func TestPodResizeValidator(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.newNode("small", map[string]string{corev1.LabelOSStable: "linux"})
	e.newNode("declared", nil, "InPlacePodLevelResourcesVerticalScaling")
	e.newNode("windows", map[string]string{corev1.LabelOSStable: "windows"})
	cpu := func(quantity string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = amounts("cpu", quantity, "memory", "1Gi")
		}
	}
	whole := func(quantity string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", quantity, "memory", "1Gi"), Limits: amounts("cpu", "100", "memory", "100Gi")}
		}
	}
	initContainer := func(quantity string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{*p.Spec.Containers[0].DeepCopy()}
			p.Spec.InitContainers[0].Name, p.Spec.InitContainers[0].Resources.Requests = "i", amounts("cpu", quantity, "memory", "1Gi")
		}
	}
	for _, tc := range []struct {
		rule, node   string
		from, to     func(*corev1.Pod)
		want         string // without the common prefix
		wantedCauses []metav1.StatusCause
	}{
		{"all allocatable resources", "small", cpu("1"), cpu("2"), "", nil},
		{"more than the allocatable CPU", "small", cpu("1"), cpu("2001m"),
			"node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000", []metav1.StatusCause{{Type: "NodeCapacity"}}},
		{"more than the allocatable memory", "small", cpu("1"), func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("cpu", "3", "memory", "2Gi") },
			"node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
			[]metav1.StatusCause{{Type: "NodeCapacity"}}},
		{"a pod without a node is not checked", "", cpu("1"), cpu("100"), "", nil},
		{"an unchanged pod is not checked", "absent", cpu("1"), cpu("1"), "", nil},
		{"a missing node", "absent", cpu("1"), cpu("2"), `node "absent" not found`, nil},
		{"a node that does not run Linux", "windows", cpu("1"), cpu("2"), `pod resize is only supported on linux nodes, node "windows" is "windows"`, []metav1.StatusCause{{Type: "UnsupportedPlatform"}}},
		{"pod-level resources with the declared feature", "declared", whole("1"), whole("2"), "", nil},
		{"pod-level resources without the feature", "small", whole("1"), whole("2"), `pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "small"`, nil},
		{"init containers without the feature", "small", initContainer("1"), initContainer("2"),
			`pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "small"`, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			pod := mustCreate(e, "pods", newPod("", func(p *corev1.Pod) {
				p.GenerateName, p.Spec.NodeName = "p-", tc.node
				withResources(nil, amounts("cpu", "100", "memory", "100Gi"))(p)
				cpu("1")(p)
				tc.from(p)
			}))
			_, err := tryChange(e, "pods", "resize", pod, tc.to)
			if tc.want == "" && err == nil {
				return
			}
			want := `pods "` + pod.Name + `" is forbidden: ` + tc.want
			wantStatus(t, err, metav1.Status{
				Code: 403, Reason: metav1.StatusReasonForbidden, Message: want,
				Details: &metav1.StatusDetails{Kind: "pods", Name: pod.Name, Causes: tc.wantedCauses},
			})
		})
	}
}
