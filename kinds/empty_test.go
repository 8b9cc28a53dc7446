package kinds_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// TestDryRunThatReleasesAnObject deletes objects whose only finalizer the deletion removes: the
// response has an empty object, converted from the internal type of kube-apiserver.
func TestDryRunThatReleasesAnObject(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "a", Namespace: "default", Finalizers: []string{metav1.FinalizerDeleteDependents}}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	env := registrytest.New(t, nil, kinds.Resources(feature.Default())...)
	for resource, c := range map[string]struct {
		obj  runtime.Object
		want string
	}{
		"deployments.apps": {&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
			`{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`},
		"replicasets.apps": {&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
			`{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}}`},
		"statefulsets.apps": {&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}},
			`{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}}`},
		"daemonsets.apps": {&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
			`{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"0"}},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}}`},
		"events.events.k8s.io": {&corev1.Event{
			ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{Namespace: "default"}, EventTime: metav1.NowMicro(),
			Type: corev1.EventTypeNormal, Reason: "r", Action: "a", ReportingController: "e.org/c", ReportingInstance: "i"},
			`{"metadata":{},"eventTime":null,"regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}`},
	} {
		t.Run(resource, func(t *testing.T) {
			e := env.With(t)
			e.Default(resource, c.obj)
			e.Create(resource, c.obj)
			background := metav1.DeletePropagationBackground
			result, err := e.Store(resource).Delete(e.Context(), registry.DeleteRequest{
				Namespace: "default", Name: "a",
				Options: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, PropagationPolicy: &background},
			})
			if err != nil {
				t.Fatal(err)
			}
			obj := registrytest.Object(result.Entry)
			if core, ok := obj.(*corev1.Event); ok {
				version, _ := e.Store(resource).Resource().Version(eventsv1.SchemeGroupVersion.Version)
				if obj, err = version.FromHub(core); err != nil {
					t.Fatal(err)
				}
			}
			if got, _ := json.Marshal(obj); string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
