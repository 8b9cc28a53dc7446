package apps

import (
	"context"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func meta() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: "m"} }

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
}

// pods is a template of pods that the selector matches.
func pods() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector().MatchLabels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func put[T runtime.Object](e *registrytest.Env, resource, subresource string, change func(T)) (T, error) {
	result, err := e.Store(resource).Update(e.Context(), registry.UpdateRequest{
		Namespace:   "default",
		Name:        "m",
		Subresource: subresource,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			obj := current.DeepCopyObject().(T)
			change(obj)
			return obj, nil
		},
	})
	if err != nil {
		var none T
		return none, err
	}
	return registrytest.Object(result.Entry).(T), nil
}

func mustPut[T runtime.Object](e *registrytest.Env, resource, subresource string, change func(T)) T {
	e.Helper()
	obj, err := put(e, resource, subresource, change)
	if err != nil {
		e.Fatal(err)
	}
	return obj
}

func TestDeploymentGeneration(t *testing.T) {
	e := registrytest.New(t, nil, deployments(feature.Default()))
	e.Create("deployments.apps", &appsv1.Deployment{ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), Selector: selector(), Template: pods()}})
	for _, step := range []struct {
		rule, subresource string
		change            func(*appsv1.Deployment)
		want              int64
	}{
		{"labels do not count", "", func(d *appsv1.Deployment) { d.Labels = map[string]string{"biz-version": "101"} }, 1},
		{"annotations count", "", func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "b"} }, 2},
		{"the spec counts", "", func(d *appsv1.Deployment) { d.Spec.Paused = true }, 3},
		{"the status does not count", "status", func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 3 }, 3},
		{"a status write does not change the spec", "status", func(d *appsv1.Deployment) { d.Spec.Paused = false }, 3},
		{"a client cannot set it", "", func(d *appsv1.Deployment) { d.Generation = 99 }, 3},
	} {
		got := mustPut(e, "deployments.apps", step.subresource, step.change)
		if got.Generation != step.want || step.want == 3 && !got.Spec.Paused {
			t.Errorf("%s: generation %d, want %d; paused %v", step.rule, got.Generation, step.want, got.Spec.Paused)
		}
	}
	got := mustPut(e, "deployments.apps", "", func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} })
	if got.Status.ObservedGeneration != 3 {
		t.Error("an update changed the status")
	}
	got = mustPut(e, "deployments.apps", "status", func(d *appsv1.Deployment) { d.Labels = nil })
	if len(got.Labels) != 1 {
		t.Error("a write of the status changed the labels")
	}
}

func TestScaleOfEachKind(t *testing.T) {
	e := registrytest.New(t, nil, Resources(feature.Default())...)
	e.Create("deployments.apps", &appsv1.Deployment{ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), Selector: selector(), Template: pods()}})
	e.Create("replicasets.apps", &appsv1.ReplicaSet{ObjectMeta: meta(), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(1)), Selector: selector(), Template: pods()}})
	e.Create("statefulsets.apps", &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Replicas: new(int32(1)), Selector: selector(), Template: pods()}})
	for _, resource := range []string{"deployments.apps", "replicasets.apps", "statefulsets.apps"} {
		scale := mustPut(e, resource, "scale", func(s *autoscalingv1.Scale) {
			if s.Spec.Replicas != 1 || s.Status.Selector != "a=b" || s.UID == "" || s.ResourceVersion == "" {
				t.Errorf("%s: scale before: %+v", resource, s)
			}
			s.Spec.Replicas = 5
		})
		obj := registrytest.Meta(e.Get(resource, "default", "m"))
		if scale.Spec.Replicas != 5 || scale.ResourceVersion != obj.GetResourceVersion() || obj.GetGeneration() != 2 {
			t.Errorf("%s: scaled to %d at %s, generation %d", resource, scale.Spec.Replicas, scale.ResourceVersion, obj.GetGeneration())
		}
		_, err := put(e, resource, "scale", func(s *autoscalingv1.Scale) { s.Spec.Replicas = -1 })
		const want = `Scale.autoscaling "m" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", resource, err, want)
		}
		_, err = put(e, resource, "scale", func(s *autoscalingv1.Scale) { s.ResourceVersion = "1" })
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: a stale scale: %v, want 409", resource, err)
		}
	}
}

func TestSelectorsAreImmutable(t *testing.T) {
	e := registrytest.New(t, nil, Resources(feature.Default())...)
	e.Create("deployments.apps", &appsv1.Deployment{ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: pods()}})
	e.Create("replicasets.apps", &appsv1.ReplicaSet{ObjectMeta: meta(), Spec: appsv1.ReplicaSetSpec{Selector: selector(), Template: pods()}})
	e.Create("daemonsets.apps", &appsv1.DaemonSet{ObjectMeta: meta(), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: pods()}})
	e.Create("statefulsets.apps", &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: pods()}})
	e.Create("controllerrevisions.apps", &appsv1.ControllerRevision{ObjectMeta: meta(), Data: runtime.RawExtension{Raw: []byte(`{}`)}})
	other := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	_, err := put(e, "deployments.apps", "", func(d *appsv1.Deployment) {
		d.Spec.Selector, d.Spec.Template.Labels = other, other.MatchLabels
	})
	const want = `Deployment.apps "m" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable`
	if err == nil || err.Error() != want {
		t.Errorf("deployment: %v, want %s", err, want)
	}
	if _, err := put(e, "replicasets.apps", "", func(r *appsv1.ReplicaSet) { r.Spec.Selector = other }); !apierrors.IsInvalid(err) {
		t.Errorf("replicaset: %v, want 422", err)
	}
	if _, err := put(e, "daemonsets.apps", "", func(d *appsv1.DaemonSet) { d.Spec.Selector = other }); !apierrors.IsInvalid(err) {
		t.Errorf("daemonset: %v, want 422", err)
	}
	if _, err := put(e, "statefulsets.apps", "", func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "other" }); !apierrors.IsInvalid(err) {
		t.Errorf("statefulset: %v, want 422", err)
	}
	mustPut(e, "statefulsets.apps", "", func(s *appsv1.StatefulSet) { s.Spec.Replicas, s.Spec.MinReadySeconds = new(int32(2)), 3 })
	_, err = put(e, "controllerrevisions.apps", "", func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{"a":1}`) })
	if !apierrors.IsInvalid(err) {
		t.Errorf("controllerrevision: %v, want 422", err)
	}
}

func TestDaemonSetTemplateGeneration(t *testing.T) {
	e := registrytest.New(t, nil, daemonSets(feature.Default()))
	e.Create("daemonsets.apps", &appsv1.DaemonSet{ObjectMeta: meta(), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: pods()}})
	for _, step := range []struct {
		rule, subresource string
		change            func(*appsv1.DaemonSet)
		want              string
	}{
		{"starts at 1", "", func(*appsv1.DaemonSet) {}, "1"},
		{"other fields of the spec do not count", "", func(d *appsv1.DaemonSet) { d.Spec.MinReadySeconds = 1 }, "1"},
		{"the template counts", "", func(d *appsv1.DaemonSet) { d.Spec.Template.Spec.NodeName = "n" }, "2"},
		{"a client cannot set it", "", func(d *appsv1.DaemonSet) { d.Annotations = nil }, "2"},
		{"a client cannot set it with the status", "status", func(d *appsv1.DaemonSet) { d.Annotations = nil }, "2"},
	} {
		got := mustPut(e, "daemonsets.apps", step.subresource, step.change)
		if n := got.Annotations[appsv1.DeprecatedTemplateGeneration]; n != step.want {
			t.Errorf("%s: %s, want %s", step.rule, n, step.want)
		}
	}
}

func TestDaemonSetTemplateGenerationFromClient(t *testing.T) {
	for given, want := range map[string]string{"5": "5", "+07": "7", "-5": "1", "0": "1", "five": "1"} {
		e := registrytest.New(t, nil, daemonSets(feature.Default()))
		set := &appsv1.DaemonSet{ObjectMeta: meta(), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: pods()}}
		set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: given}
		got := e.Create("daemonsets.apps", set).(*appsv1.DaemonSet).Annotations[appsv1.DeprecatedTemplateGeneration]
		if got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestClaimTemplatesHaveAPIVersionAndKind(t *testing.T) {
	e := registrytest.New(t, nil, statefulSets(feature.Default()))
	e.Create("statefulsets.apps", &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{
		Selector: selector(), Template: pods(), VolumeClaimTemplates: claims("data"),
	}})
	got := e.Get("statefulsets.apps", "default", "m").(*appsv1.StatefulSet).Spec.VolumeClaimTemplates[0]
	if got.Kind != "PersistentVolumeClaim" || got.APIVersion != "v1" {
		t.Errorf("got %q of %q", got.Kind, got.APIVersion)
	}
}

func TestControllerCell(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", Controller: new(true)},
	}}}
	if got := controllerCell(revision); got != "statefulset.apps/web" {
		t.Errorf("got %s", got)
	}
}
