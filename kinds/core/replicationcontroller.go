package core

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func replicationControllers(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.ReplicationController]{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ReplicationController{},
		List:         &corev1.ReplicationControllerList{},
		Resource:     "replicationcontrollers",
		StoragePath:  "controllers",
		ShortNames:   []string{"rc"},
		Categories:   []string{"all"},
		Namespaced:   true,
		ValidateName: kind.NamedByTag,
		Generation:   true,
		Status:       true,
		Default:      defaultReplicationController,
		ValidateCreate: func(r *corev1.ReplicationController) field.ErrorList {
			return append(kind.ValidateTaggedName(r), validateReplicationController(r, features)...)
		},
		ValidateUpdate: func(r, _ *corev1.ReplicationController) field.ErrorList {
			return validateReplicationController(r, features)
		},
		GatedFields:              podspec.GatedFields("spec.template.spec"),
		WarningsOnCreate:         warningsForNewReplicationController,
		AllowUnconditionalUpdate: true,
		WarningsOnUpdate:         warningsForReplicationControllerUpdate,
		DefaultPropagation:       metav1.DeletePropagationOrphan,
		ValidateStatusUpdate:     validateReplicationControllerStatus,
		FieldLabel:               kind.FieldLabels("metadata.name", "metadata.namespace", "status.replicas"),
		Fields: func(r *corev1.ReplicationController) fields.Set {
			return fields.Set{"status.replicas": strconv.Itoa(int(r.Status.Replicas))}
		},
		Columns: replicationControllerColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(r *corev1.ReplicationController) (kind.Scaling, error) {
				return kind.Scaling{
					Replicas: &r.Spec.Replicas,
					Current:  r.Status.Replicas,
					Selector: labels.SelectorFromSet(r.Spec.Selector).String(),
				}, nil
			}),
		},
	}.Build(features)
}

func controllerTemplate(r *corev1.ReplicationController) *corev1.PodTemplateSpec {
	return r.Spec.Template
}

func replicationControllerColumns() []kind.Column[*corev1.ReplicationController] {
	spec, status := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
	columns := kind.WorkloadColumns(controllerTemplate,
		kind.IntegerColumn("Desired", spec["replicas"],
			func(r *corev1.ReplicationController) any { return int64(ptr.Deref(r.Spec.Replicas, 0)) }),
		kind.IntegerColumn("Current", status["replicas"],
			func(r *corev1.ReplicationController) any { return int64(r.Status.Replicas) }),
		kind.IntegerColumn("Ready", status["readyReplicas"],
			func(r *corev1.ReplicationController) any { return int64(r.Status.ReadyReplicas) }),
	)
	return append(columns, kind.WideColumn("Selector", spec["selector"],
		func(r *corev1.ReplicationController) any { return labels.FormatLabels(r.Spec.Selector) }))
}
