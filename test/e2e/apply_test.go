package e2e_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1apply "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv1apply "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestClientGoAppliesDeployments(t *testing.T) {
	deployments := newClientset(t, servertest.Start(t, miniapi.Config{}).RESTConfig()).AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "web"}
	web := func() *appsv1apply.DeploymentApplyConfiguration {
		return appsv1apply.Deployment("web", namespace).WithSpec(appsv1apply.DeploymentSpec().
			WithSelector(metav1apply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1apply.PodTemplateSpec().WithLabels(labels).WithSpec(corev1apply.PodSpec().
				WithContainers(corev1apply.Container().WithName("web").WithImage("nginx")))))
	}
	made, err := deployments.Apply(t.Context(), web(), metav1.ApplyOptions{FieldManager: "owner"})
	check(t, err)
	_, err = deployments.ApplyScale(t.Context(), "web", autoscalingv1apply.Scale().WithName("web").
		WithSpec(autoscalingv1apply.ScaleSpec().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "scaler", Force: true})
	check(t, err)
	_, err = deployments.ApplyStatus(t.Context(), appsv1apply.Deployment("web", namespace).
		WithStatus(appsv1apply.DeploymentStatus().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "controller"})
	check(t, err)
	got, err := deployments.Apply(t.Context(), web(), metav1.ApplyOptions{FieldManager: "owner"})
	check(t, err)
	if got.UID != made.UID || *got.Spec.Replicas != 3 || got.Status.Replicas != 3 || len(got.ManagedFields) != 3 {
		t.Errorf("got %+v", got)
	}
	// The extracted configuration can be applied again.
	extracted, err := appsv1apply.ExtractDeployment(got, "owner")
	check(t, err)
	if extracted.Spec.Replicas != nil || *extracted.Spec.Template.Spec.Containers[0].Image != "nginx" {
		t.Errorf("extracted %+v", extracted.Spec)
	}
}

func TestControllerRuntimeApplies(t *testing.T) {
	c := newClient(t, servertest.Start(t, miniapi.Config{}))
	config := func(value string) *corev1apply.ConfigMapApplyConfiguration {
		return corev1apply.ConfigMap("a", namespace).WithData(map[string]string{"k": value})
	}
	check(t, c.Apply(t.Context(), config("1"), client.FieldOwner("one")))
	err := c.Apply(t.Context(), config("2"), client.FieldOwner("two"))
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Errorf("a field of another manager: %v", err)
	}
	check(t, c.Apply(t.Context(), config("2"), client.FieldOwner("two"), client.ForceOwnership))
	got := &corev1.ConfigMap{}
	check(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, got))
	if got.Data["k"] != "2" || len(got.ManagedFields) != 1 || got.ManagedFields[0].Manager != "two" {
		t.Errorf("got %+v", got)
	}
}
