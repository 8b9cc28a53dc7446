package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/registry"
)

// newNode creates a node with two cores and 1 GiB.
func (e env) newNode(name string, labels map[string]string, features ...string) {
	e.Helper()
	node := mustCreate(e, "nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	_, err := tryChange(e, "nodes", "status", node, func(n *corev1.Node) {
		n.Status.Allocatable, n.Status.DeclaredFeatures = amounts("cpu", "2", "memory", "1Gi"), features
	})
	if err != nil {
		e.Fatal(err)
	}
}

func TestPodTopologyLabels(t *testing.T) {
	const zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
	e := newKinds(t, plugin.Config{})
	e.newNode("there", map[string]string{zone: "z", region: "r", "topology.kubernetes.io/rack": "k"})
	e.newNode("bare", nil)
	own := map[string]string{"a": "b", zone: "own"}
	labelled := map[string]string{"a": "b", zone: "z", region: "r"}
	binding := func(kind, node string) *corev1.Binding {
		return &corev1.Binding{Target: corev1.ObjectReference{Kind: kind, Name: node}}
	}
	for _, tc := range []struct {
		rule     string
		node     string          // named by the pod
		binding  *corev1.Binding // nil: none
		resource string          // that the binding is posted to
		want     map[string]string
	}{
		{"a pod that names its node gets its zone and region", "there", nil, "", labelled},
		{"a node may have none", "bare", nil, "", own},
		{"or not be there", "absent", nil, "", own},
		{"who is bound gets them", "", binding("Node", "there"), "pods", labelled},
		{"to a node, by name", "", binding("", "there"), "pods", own},
		{"and at the pod", "", binding("Node", "there"), "bindings", own},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			pod := newPod("", func(p *corev1.Pod) { p.GenerateName, p.Labels, p.Spec.NodeName = "p-", own, tc.node })
			name := mustCreate(e, "pods", pod).Name
			if err := e.bind(tc.resource, name, tc.binding); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, e.Get("pods", "x", name).(*corev1.Pod).Labels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// bind posts a binding, if there is one, to the pod or to the resource of
// bindings.
func (e env) bind(resource, pod string, binding *corev1.Binding) error {
	if binding == nil {
		return nil
	}
	binding.ObjectMeta = named(pod)
	req := registry.CreateRequest{Namespace: "x", Name: pod, Object: binding}
	if resource == "pods" {
		_, err := e.Store(resource).CreateSubresource(e.Context(), "binding", req)
		return err
	}
	_, err := e.Store(resource).Create(e.Context(), req)
	return err
}

func TestPodResizes(t *testing.T) {
	e := newKinds(t, plugin.Config{})
	e.newNode("small", map[string]string{corev1.LabelOSStable: "linux"})
	e.newNode("able", nil, "InPlacePodLevelResourcesVerticalScaling")
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
	before := func(quantity string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{*p.Spec.Containers[0].DeepCopy()}
			p.Spec.InitContainers[0].Name, p.Spec.InitContainers[0].Resources.Requests = "i", amounts("cpu", quantity, "memory", "1Gi")
		}
	}
	for _, tc := range []struct {
		rule, node   string
		from, to     func(*corev1.Pod)
		want         string // behind what all refusals have in common
		wantedCauses []metav1.StatusCause
	}{
		{"a node gives what it has", "small", cpu("1"), cpu("2"), "", nil},
		{"and no more", "small", cpu("1"), cpu("2001m"),
			"node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000", []metav1.StatusCause{{Type: "NodeCapacity"}}},
		{"of memory too", "small", cpu("1"), func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = amounts("cpu", "3", "memory", "2Gi") },
			"node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
			[]metav1.StatusCause{{Type: "NodeCapacity"}}},
		{"a pod without a node may ask for anything", "", cpu("1"), cpu("100"), "", nil},
		{"nothing is asked where nothing changes", "absent", cpu("1"), cpu("1"), "", nil},
		{"a node has to be there", "absent", cpu("1"), cpu("2"), `node "absent" not found`, nil},
		{"and run Linux", "windows", cpu("1"), cpu("2"), `pod resize is only supported on linux nodes, node "windows" is "windows"`, []metav1.StatusCause{{Type: "UnsupportedPlatform"}}},
		{"a node says that it can resize a pod as a whole", "able", whole("1"), whole("2"), "", nil},
		{"else it cannot", "small", whole("1"), whole("2"), `pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "small"`, nil},
		{"nor containers that run before the others", "small", before("1"), before("2"),
			`pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "small"`, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			pod := mustCreate(e, "pods", newPod("", func(p *corev1.Pod) {
				p.GenerateName, p.Spec.NodeName = "p-", tc.node
				takes(nil, amounts("cpu", "100", "memory", "100Gi"))(p)
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
