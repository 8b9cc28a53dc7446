package pods

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

// FromTemplate returns a new pod of an owner, with a generated name.
func FromTemplate(template *corev1.PodTemplateSpec, owner reconcile.Owner) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), GenerateName: owner.GetName() + "-",
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{owner.ControllerReference()},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}
