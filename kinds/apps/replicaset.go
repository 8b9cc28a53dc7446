package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func replicaSets() *registry.Resource {
	return kind.Definition[*appsv1.ReplicaSet]{
		GroupVersion:             appsv1.SchemeGroupVersion,
		Object:                   &appsv1.ReplicaSet{},
		List:                     &appsv1.ReplicaSetList{},
		Resource:                 "replicasets",
		ShortNames:               []string{"rs"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Generation:               true,
		Status:                   true,
		Default:                  defaultReplicaSet,
		PrepareForCreate:         podspec.PrepareTemplate(replicaSetTemplate),
		ValidateCreate:           validateReplicaSet,
		WarningsOnCreate:         warningsForNewReplicaSet,
		AllowUnconditionalUpdate: true,
		PrepareForUpdate:         podspec.PrepareTemplateUpdate(replicaSetTemplate),
		ValidateUpdate:           validateReplicaSetUpdate,
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForReplicaSet),
		ValidateStatusUpdate:     validateReplicaSetStatus,
		Columns:                  replicaSetColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(r *appsv1.ReplicaSet) (kind.Scaling, error) {
				return scaling(&r.Spec.Replicas, r.Status.Replicas, r.Spec.Selector)
			}),
		},
	}.Build()
}

func replicaSetColumns() []kind.Column[*appsv1.ReplicaSet] {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return []kind.Column[*appsv1.ReplicaSet]{
		kind.NameColumn[*appsv1.ReplicaSet](),
		{
			Name: "Desired", Type: "integer",
			Description: spec["replicas"],
			Cell:        func(r *appsv1.ReplicaSet) any { return number(r.Spec.Replicas) },
		},
		{
			Name: "Current", Type: "integer",
			Description: status["replicas"],
			Cell:        func(r *appsv1.ReplicaSet) any { return int64(r.Status.Replicas) },
		},
		{
			Name: "Ready", Type: "integer",
			Description: status["readyReplicas"],
			Cell:        func(r *appsv1.ReplicaSet) any { return int64(r.Status.ReadyReplicas) },
		},
		kind.AgeColumn[*appsv1.ReplicaSet](),
		kind.ContainersColumn(replicaSetContainers),
		kind.ImagesColumn(replicaSetContainers),
		{
			Name: "Selector", Priority: kind.Wide,
			Description: spec["selector"],
			Cell:        func(r *appsv1.ReplicaSet) any { return metav1.FormatLabelSelector(r.Spec.Selector) },
		},
	}
}

func replicaSetContainers(r *appsv1.ReplicaSet) []corev1.Container {
	return r.Spec.Template.Spec.Containers
}

func replicaSetTemplate(r *appsv1.ReplicaSet) *corev1.PodTemplateSpec { return &r.Spec.Template }
