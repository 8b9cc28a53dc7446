package core_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: named(name),
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(30)),
			Containers:                    []corev1.Container{{Name: "c", Image: "i"}},
		},
	}
}

func TestPodStartsPending(t *testing.T) {
	e := newEnv(t)
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	for _, tc := range []struct {
		name   string
		change func(*corev1.Pod)
		want   corev1.PodStatus
	}{
		{"no resources", func(*corev1.Pod) {}, corev1.PodStatus{QOSClass: corev1.PodQOSBestEffort}},
		{"a client's status is dropped", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, corev1.PodStatus{QOSClass: corev1.PodQOSBestEffort}},
		{"the QoS class of a client is dropped", func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSGuaranteed }, corev1.PodStatus{QOSClass: corev1.PodQOSBestEffort}},
		{"a scheduling gate", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}} }, corev1.PodStatus{
			QOSClass: corev1.PodQOSBestEffort,
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
				Message: "Scheduling is blocked due to non-empty scheduling gates"}},
		}},
		{"some requests", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}},
		{"limits only", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = limits }, corev1.PodStatus{QOSClass: corev1.PodQOSGuaranteed}},
		{"requests less than the limits", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = limits
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
		}, corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}},
		{"one of two containers without limits", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = limits
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d", Image: "i"})
		}, corev1.PodStatus{QOSClass: corev1.PodQOSBurstable}},
		{"limits of the pod", func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Limits: limits}
		}, corev1.PodStatus{QOSClass: corev1.PodQOSGuaranteed}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := newPod("")
			pod.GenerateName = "p-"
			tc.change(pod)
			tc.want.Phase = corev1.PodPending
			got := e.With(t).Create("pods", pod).(*corev1.Pod)
			for _, c := range got.Status.Conditions {
				if c.LastTransitionTime.IsZero() {
					t.Error("a condition since never")
				}
			}
			if diff := cmp.Diff(tc.want, got.Status, cmpopts.IgnoreTypes(metav1.Time{})); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodWithoutKubeletIsRemovedImmediately(t *testing.T) {
	e := newEnv(t)
	remove := func(name string, grace *int64) registry.DeleteResult {
		t.Helper()
		result, err := e.Store("pods").Delete(t.Context(), registry.DeleteRequest{
			Namespace: "default", Name: name, Options: &metav1.DeleteOptions{GracePeriodSeconds: grace},
		})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	e.Create("pods", newPod("unscheduled"))
	if !remove("unscheduled", nil).Removed {
		t.Error("a pod on no node was kept")
	}
	running := newPod("running")
	running.Spec.NodeName = "n"
	e.Create("pods", running)
	result := remove("running", nil)
	if got := registrytest.Object(result.Entry).(*corev1.Pod); result.Removed || *got.DeletionGracePeriodSeconds != 30 {
		t.Errorf("a pod on a node: removed %v with grace period %d, want 30 s to go", result.Removed, *got.DeletionGracePeriodSeconds)
	}
	if !remove("running", new(int64(0))).Removed {
		t.Error("a pod was kept against a grace period of 0")
	}
	running.Name = "done"
	e.Create("pods", running)
	mustPut(e, "pods", "done", "status", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	if !remove("done", nil).Removed {
		t.Error("a pod that has ended was kept")
	}
}

func TestPodStatusKeepsFieldsOfOtherWriters(t *testing.T) {
	e := newEnv(t)
	e.Create("pods", newPod("p"))
	mustPut(e, "pods", "p", "status", func(p *corev1.Pod) {
		p.Status.ObservedGeneration = 1
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, ObservedGeneration: 1}}
	})
	got := mustPut(e, "pods", "p", "status", func(p *corev1.Pod) {
		p.Spec.NodeName = "elsewhere"
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: "u"}}
		p.Status = corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		}
	})
	want := corev1.PodStatus{
		Phase:              corev1.PodRunning,
		QOSClass:           corev1.PodQOSBestEffort,
		ObservedGeneration: 1,
		Conditions:         []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, ObservedGeneration: 1}},
	}
	if diff := cmp.Diff(want, got.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got.Spec.NodeName != "" || got.OwnerReferences != nil || got.Generation != 1 {
		t.Errorf("a write of the status changed node %q, owners %v, generation %d", got.Spec.NodeName, got.OwnerReferences, got.Generation)
	}
}

func TestPodNameShouldBeALabel(t *testing.T) {
	e := newEnv(t)
	ctx, warnings := registry.WithWarnings(t.Context())
	pod := newPod("a.b")
	e.Default("pods", pod)
	if _, err := e.Store("pods").Create(ctx, registry.CreateRequest{Namespace: "default", Object: pod}); err != nil {
		t.Fatal(err)
	}
	if len(warnings.List()) != 1 {
		t.Errorf("warnings: %q, want one", warnings.List())
	}
}

func TestEphemeralContainersAreOnlyAdded(t *testing.T) {
	e := newEnv(t)
	e.Create("pods", newPod("p"))
	debugger := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "dbg", Image: "b"}}
	got := mustPut(e, "pods", "p", "ephemeralcontainers", func(p *corev1.Pod) {
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{debugger}
		p.Spec.NodeName = "elsewhere"
		p.Labels = map[string]string{"a": "b"}
	})
	if got.Generation != 2 || got.Spec.NodeName != "" || got.Labels != nil || len(got.Spec.EphemeralContainers) != 1 {
		t.Errorf("generation %d, node %q, labels %v, %d ephemeral containers", got.Generation, got.Spec.NodeName, got.Labels, len(got.Spec.EphemeralContainers))
	}
	for name, change := range map[string]func(*corev1.Pod){
		"change": func(p *corev1.Pod) { p.Spec.EphemeralContainers[0].Image = "other" },
		"remove": func(p *corev1.Pod) { p.Spec.EphemeralContainers = nil },
	} {
		if _, err := put(e, "pods", "p", "ephemeralcontainers", change); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v, want 422", name, err)
		}
	}
}

func TestResizeChangesResourcesOnly(t *testing.T) {
	e := newEnv(t)
	pod := newPod("p")
	half, whole := resource.MustParse("500m"), resource.MustParse("1")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: half}
	e.Create("pods", pod)
	got := mustPut(e, "pods", "p", "resize", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: whole}
		p.Spec.Containers[0].Image = "other"
	})
	if c := got.Spec.Containers[0]; c.Image != "i" || !c.Resources.Requests.Cpu().Equal(whole) || got.Generation != 2 {
		t.Errorf("image %s, cpu %s, generation %d", c.Image, c.Resources.Requests.Cpu(), got.Generation)
	}
	for name, change := range map[string]func(*corev1.Pod){
		"another class": func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = nil },
		"renamed":       func(p *corev1.Pod) { p.Spec.Containers[0].Name = "d" },
		"added":         func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d"}) },
	} {
		if _, err := put(e, "pods", "p", "resize", change); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v, want 422", name, err)
		}
	}
}

// The protocol of probes has a default in pods, not in templates, while its gate is enabled.
func TestProbeProtocolHasADefault(t *testing.T) {
	enabled, err := feature.Config{Gates: map[string]bool{"H2CContainerProbe": true}}.Set()
	if err != nil {
		t.Fatal(err)
	}
	get := func() *corev1.HTTPGetAction { return &corev1.HTTPGetAction{Port: intstr.FromInt32(80)} }
	container := func() corev1.Container {
		return corev1.Container{
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get()}},
			Lifecycle:     &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: get()}},
		}
	}
	for _, tc := range []struct {
		features *feature.Set
		want     *corev1.HTTPProtocol
	}{{feature.Default(), nil}, {enabled, new(corev1.HTTPProtocolHTTP1)}} {
		spec := corev1.PodSpec{
			Containers: []corev1.Container{container()}, InitContainers: []corev1.Container{container()},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon(container())}},
		}
		pod := &corev1.Pod{Spec: spec}
		i := slices.IndexFunc(core.Resources(tc.features), func(r *registry.Resource) bool { return r.Kind == "Pod" })
		core.Resources(tc.features)[i].Versions[0].Default(pod)
		e := corev1.Container(pod.Spec.EphemeralContainers[0].EphemeralContainerCommon)
		for _, c := range []corev1.Container{pod.Spec.Containers[0], pod.Spec.InitContainers[0], e} {
			for _, action := range []*corev1.HTTPGetAction{c.LivenessProbe.HTTPGet, c.Lifecycle.PreStop.HTTPGet} {
				if diff := cmp.Diff(tc.want, action.Protocol); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		}
	}
}
