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
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.ReplicaSet{},
		List:         &appsv1.ReplicaSetList{},
		Resource:     "replicasets",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"rs"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultReplicaSet),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  podspec.PrepareTemplate(replicaSetTemplate),
				Validate: kind.CheckCreate(validateReplicaSet),
				Warnings: kind.WarnCreate(warnOfNewReplicaSet),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            podspec.PrepareTemplateUpdate(replicaSetTemplate),
				Validate:           kind.CheckUpdate(validateReplicaSetUpdate),
				Warnings:           kind.WarnGeneration(warnOfReplicaSet),
			},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateReplicaSetStatus)},
		Columns:        registry.Columns{Definitions: replicaSetColumns(), Row: kind.Row(replicaSetRow)},
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(r *appsv1.ReplicaSet) (kind.Scaling, error) {
				return scaling(&r.Spec.Replicas, r.Status.Replicas, r.Spec.Selector)
			}),
		},
	}.Build()
}

func replicaSetColumns() []metav1.TableColumnDefinition {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	columns := []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Desired", "integer", spec["replicas"]),
		kind.Column("Current", "integer", status["replicas"]),
		kind.Column("Ready", "integer", status["readyReplicas"]),
		kind.AgeColumn(),
	}
	columns = append(columns, kind.ContainerColumns()...)
	return append(columns, kind.WideColumn("Selector", "string", spec["selector"]))
}

func replicaSetRow(r *appsv1.ReplicaSet) []any {
	names, images := kind.ContainerCells(r.Spec.Template.Spec.Containers)
	return []any{
		r.Name, number(r.Spec.Replicas), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas),
		kind.Age(r.CreationTimestamp), names, images, metav1.FormatLabelSelector(r.Spec.Selector),
	}
}

func replicaSetTemplate(r *appsv1.ReplicaSet) *corev1.PodTemplateSpec { return &r.Spec.Template }
