package apps

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestDeployments(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		change func(*appsv1.DeploymentSpec)
		want   []string
	}{
		{"a selector and its pods are enough", func(*appsv1.DeploymentSpec) {}, nil},
		{"an empty spec lacks three things", func(s *appsv1.DeploymentSpec) { *s = appsv1.DeploymentSpec{} }, []string{
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
			"spec.template.spec.containers: Required value",
		}},
		{"pods are replaced for ever", func(s *appsv1.DeploymentSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever },
			[]string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{"an empty selector selects everything", func(s *appsv1.DeploymentSpec) { s.Selector = &metav1.LabelSelector{} },
			[]string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		{"replicas are no fewer than none", func(s *appsv1.DeploymentSpec) { s.Replicas = new(int32(-1)) },
			[]string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		{"to recreate is not to roll", func(s *appsv1.DeploymentSpec) {
			s.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{}}
		}, []string{"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{"rolling needs room", func(s *appsv1.DeploymentSpec) {
			s.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(0))}
		}, []string{"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"}},
		{"progress takes longer than being ready", func(s *appsv1.DeploymentSpec) {
			s.MinReadySeconds, s.ProgressDeadlineSeconds = 5, new(int32(5))
		}, []string{"spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: meta(), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: pods()}}
			tc.change(&d.Spec)
			defaultDeployment(d)
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateDeployment(d))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatefulSetsMayMountTheirClaims(t *testing.T) {
	s := &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: pods()}}
	s.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	defaultStatefulSet(s)
	if got := registrytest.Texts(validateStatefulSet(s)); got != nil {
		t.Errorf("got %q", got)
	}
	s.Spec.Selector = nil
	want := []string{"spec.selector: Required value", "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}
	if diff := cmp.Diff(want, registrytest.Texts(validateStatefulSet(s))); diff != "" {
		t.Errorf("without a selector (-want +got):\n%s", diff)
	}
}
