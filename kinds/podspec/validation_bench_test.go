package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// BenchmarkValidate validates a pod as workloads create it.
func BenchmarkValidate(b *testing.B) {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}}
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	spec := &corev1.PodSpec{
		ServiceAccountName: "web",
		Containers: []corev1.Container{{
			Name: "web", Image: "registry.example.com/web:v1",
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "A", Value: "b"},
				{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			},
			Resources:      corev1.ResourceRequirements{Limits: list, Requests: list},
			VolumeMounts:   []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web"}, {Name: "tmp", MountPath: "/tmp"}},
			LivenessProbe:  probe,
			ReadinessProbe: probe,
		}},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}},
			{Name: "tmp"},
		},
	}
	podspec.Default(spec)
	b.ReportAllocs()
	for b.Loop() {
		if errs := podspec.Validate(spec, feature.Default(), field.NewPath("spec")); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
