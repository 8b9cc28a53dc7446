package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func deployments() *registry.Resource {
	return kind.Definition{
		GroupVersion: appsv1.SchemeGroupVersion,
		Object:       &appsv1.Deployment{},
		List:         &appsv1.DeploymentList{},
		Resource:     "deployments",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"deploy"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Changed:      deploymentChanged,
		Status:       true,
		Default:      kind.Defaults(defaultDeployment),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  podspec.PrepareTemplate(deploymentTemplate),
				Validate: kind.CheckCreate(validateDeployment),
				Warnings: kind.WarnCreate(warnOfNewDeployment),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            podspec.PrepareTemplateUpdate(deploymentTemplate),
				Validate:           kind.CheckUpdate(validateDeploymentUpdate),
				Warnings:           kind.WarnGeneration(warnOfDeployment),
			},
		},
		StatusStrategy: registry.UpdateStrategy{
			Prepare:  kind.OnUpdate(func(d, old *appsv1.Deployment) { d.Labels = old.Labels }),
			Validate: kind.CheckUpdate(validateDeploymentStatus),
			Owns:     kind.Except("spec", "metadata.labels"),
		},
		Columns: registry.Columns{Definitions: deploymentColumns(), Row: kind.Row(deploymentRow)},
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(d *appsv1.Deployment) (kind.Scaling, error) {
				return scaling(&d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector)
			}),
		},
	}.Build()
}

// deploymentChanged looks at annotations too: some of them steer a rollout.
func deploymentChanged(obj, old runtime.Object) bool {
	now, before := obj.(*appsv1.Deployment), old.(*appsv1.Deployment)
	return !kind.Same(&now.Spec, &before.Spec) || !kind.Same(now.Annotations, before.Annotations)
}

func deploymentColumns() []metav1.TableColumnDefinition {
	spec, status := appsv1.DeploymentSpec{}.SwaggerDoc(), appsv1.DeploymentStatus{}.SwaggerDoc()
	columns := []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Ready", "string", "Number of the pod with ready state"),
		kind.Column("Up-to-date", "string", status["updatedReplicas"]),
		kind.Column("Available", "string", status["availableReplicas"]),
		kind.AgeColumn(),
	}
	columns = append(columns, kind.ContainerColumns()...)
	return append(columns, kind.WideColumn("Selector", "string", spec["selector"]))
}

func deploymentRow(d *appsv1.Deployment) []any {
	names, images := kind.ContainerCells(d.Spec.Template.Spec.Containers)
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{
		d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, number(d.Spec.Replicas)), int64(d.Status.UpdatedReplicas),
		int64(d.Status.AvailableReplicas), kind.Age(d.CreationTimestamp), names, images, selector,
	}
}

func deploymentTemplate(d *appsv1.Deployment) *corev1.PodTemplateSpec { return &d.Spec.Template }
