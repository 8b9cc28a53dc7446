package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func replicaSets(features *feature.Set) *registry.Resource {
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
		GatedFields:              podspec.GatedFields("spec.template.spec"),
		ValidateCreate:           func(r *appsv1.ReplicaSet) field.ErrorList { return validateReplicaSet(r, features) },
		WarningsOnCreate:         warningsForNewReplicaSet,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           func(r, old *appsv1.ReplicaSet) field.ErrorList { return validateReplicaSetUpdate(r, old, features) },
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForReplicaSet),
		ValidateStatusUpdate:     validateReplicaSetStatus,
		Empty: func() *appsv1.ReplicaSet {
			return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32)}}
		},
		Columns: replicaSetColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(r *appsv1.ReplicaSet) (kind.Scaling, error) {
				return scaling(&r.Spec.Replicas, r.Status.Replicas, r.Spec.Selector)
			}),
		},
	}.Build(features)
}

func replicaSetColumns() []kind.Column[*appsv1.ReplicaSet] {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	columns := kind.WorkloadColumns(replicaSetTemplate,
		kind.IntegerColumn("Desired", spec["replicas"], func(r *appsv1.ReplicaSet) any { return number(r.Spec.Replicas) }),
		kind.IntegerColumn("Current", status["replicas"],
			func(r *appsv1.ReplicaSet) any { return int64(r.Status.Replicas) }),
		kind.IntegerColumn("Ready", status["readyReplicas"],
			func(r *appsv1.ReplicaSet) any { return int64(r.Status.ReadyReplicas) }),
	)
	return append(columns, kind.WideColumn("Selector", spec["selector"],
		func(r *appsv1.ReplicaSet) any { return metav1.FormatLabelSelector(r.Spec.Selector) }))
}

func replicaSetTemplate(r *appsv1.ReplicaSet) *corev1.PodTemplateSpec { return &r.Spec.Template }
