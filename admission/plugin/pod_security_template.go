package plugin

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// templateOf returns the pod template of an object, nil if it has none.
func templateOf(obj runtime.Object) *corev1.PodTemplateSpec {
	switch o := obj.(type) {
	case *corev1.PodTemplate:
		return &o.Template
	case *corev1.ReplicationController:
		return o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template
	default:
		return nil
	}
}

// sameImages reports whether an update of a pod keeps all images and adds no ephemeral container.
// All other fields that the standards check are immutable.
func sameImages(spec, old *corev1.PodSpec) bool {
	same := func(c, was corev1.Container) bool { return c.Image == was.Image }
	if !slices.EqualFunc(spec.Containers, old.Containers, same) || !slices.EqualFunc(spec.InitContainers, old.InitContainers, same) {
		return false
	}
	added := func(c corev1.EphemeralContainer) bool {
		return !slices.ContainsFunc(old.EphemeralContainers, func(was corev1.EphemeralContainer) bool {
			return c.Name == was.Name && c.Image == was.Image
		})
	}
	return !slices.ContainsFunc(spec.EphemeralContainers, added)
}
