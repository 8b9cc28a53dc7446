package apps

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func deployments(features *feature.Set) *registry.Resource {
	return kind.Definition[*appsv1.Deployment]{
		GroupVersion:             appsv1.SchemeGroupVersion,
		Object:                   &appsv1.Deployment{},
		List:                     &appsv1.DeploymentList{},
		Resource:                 "deployments",
		ShortNames:               []string{"deploy"},
		Categories:               []string{"all"},
		Namespaced:               true,
		Generation:               true,
		Changed:                  deploymentChanged,
		Status:                   true,
		Default:                  defaultDeployment,
		GatedFields:              podspec.GatedFields("spec.template.spec"),
		ValidateCreate:           func(d *appsv1.Deployment) field.ErrorList { return validateDeployment(d, features) },
		WarningsOnCreate:         warningsForNewDeployment,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           func(d, old *appsv1.Deployment) field.ErrorList { return validateDeploymentUpdate(d, old, features) },
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForDeployment),
		PrepareForStatusUpdate:   func(_ context.Context, d, old *appsv1.Deployment) { d.Labels = old.Labels },
		ValidateStatusUpdate:     validateDeploymentStatus,
		Empty: func() *appsv1.Deployment {
			return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}
		},
		StatusOwns: kind.Except("spec", "metadata.labels"),
		Columns:    deploymentColumns(),
		Subresources: []registry.Subresource{
			kind.ScaleSubresource(func(d *appsv1.Deployment) (kind.Scaling, error) {
				return scaling(&d.Spec.Replicas, d.Status.Replicas, d.Spec.Selector)
			}),
		},
	}.Build(features)
}

// deploymentChanged compares annotations too: some of them control a rollout.
func deploymentChanged(d, old *appsv1.Deployment) bool {
	return !kind.Same(&d.Spec, &old.Spec) || !kind.Same(d.Annotations, old.Annotations)
}

func deploymentColumns() []kind.Column[*appsv1.Deployment] {
	spec, status := appsv1.DeploymentSpec{}.SwaggerDoc(), appsv1.DeploymentStatus{}.SwaggerDoc()
	columns := kind.WorkloadColumns(deploymentTemplate,
		kind.TextColumn("Ready", "Number of the pod with ready state", func(d *appsv1.Deployment) any {
			return fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, number(d.Spec.Replicas))
		}),
		kind.TextColumn("Up-to-date", status["updatedReplicas"],
			func(d *appsv1.Deployment) any { return int64(d.Status.UpdatedReplicas) }),
		kind.TextColumn("Available", status["availableReplicas"],
			func(d *appsv1.Deployment) any { return int64(d.Status.AvailableReplicas) }),
	)
	return append(columns, kind.WideColumn("Selector", spec["selector"], deploymentSelectorCell))
}

func deploymentTemplate(d *appsv1.Deployment) *corev1.PodTemplateSpec { return &d.Spec.Template }

func deploymentSelectorCell(d *appsv1.Deployment) any {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}
