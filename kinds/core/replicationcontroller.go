package core

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func replicationControllers() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.ReplicationController{},
		List:         &corev1.ReplicationControllerList{},
		Resource:     "replicationcontrollers",
		StoragePath:  "controllers",
		ShortNames:   []string{"rc"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultReplicationController),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  podspec.PrepareTemplate(controllerTemplate),
				Validate: kind.CheckCreate(validateReplicationController), Warnings: kind.WarnCreate(warnOfNewReplicationController),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            podspec.PrepareTemplateUpdate(controllerTemplate),
				Validate:           kind.CheckAgain(validateReplicationController), Warnings: kind.WarnUpdate(warnOfReplicationControllerUpdate),
			},
			Delete: registry.DeleteStrategy{DefaultPropagation: metav1.DeletePropagationOrphan},
		},
		StatusStrategy: registry.UpdateStrategy{Validate: kind.CheckUpdate(validateReplicationControllerStatus)},
		FieldLabel:     kind.FieldLabels("metadata.name", "metadata.namespace", "status.replicas"),
		Fields: kind.Fields(func(r *corev1.ReplicationController) fields.Set {
			return fields.Set{"status.replicas": strconv.Itoa(int(r.Status.Replicas))}
		}),
		Columns: registry.Columns{Definitions: replicationControllerColumns(), Row: kind.Row(replicationControllerRow)},
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(r *corev1.ReplicationController) (kind.Scaling, error) {
				return kind.Scaling{
					Replicas: &r.Spec.Replicas,
					Current:  r.Status.Replicas,
					Selector: labels.SelectorFromSet(r.Spec.Selector).String(),
				}, nil
			}),
		},
	}.Build()
}

func controllerTemplate(r *corev1.ReplicationController) *corev1.PodTemplateSpec {
	return r.Spec.Template
}

func replicationControllerColumns() []metav1.TableColumnDefinition {
	spec, status := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
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

func replicationControllerRow(r *corev1.ReplicationController) []any {
	var desired int64
	if r.Spec.Replicas != nil {
		desired = int64(*r.Spec.Replicas)
	}
	var names, images string
	if r.Spec.Template != nil {
		names, images = kind.ContainerCells(r.Spec.Template.Spec.Containers)
	}
	return []any{
		r.Name, desired, int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), kind.Age(r.CreationTimestamp),
		names, images, labels.FormatLabels(r.Spec.Selector),
	}
}
