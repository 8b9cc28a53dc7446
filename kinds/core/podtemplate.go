package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func podTemplates() *registry.Resource {
	return kind.Definition{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.PodTemplate{},
		List:         &corev1.PodTemplateList{},
		Resource:     "podtemplates",
		Namespaced:   true,
		Generation:   true,
		Changed: func(obj, old runtime.Object) bool {
			return !equality.Semantic.DeepEqual(obj.(*corev1.PodTemplate).Template, old.(*corev1.PodTemplate).Template)
		},
		Default: kind.Defaults(defaultPodTemplate),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  podspec.PrepareTemplate(ownTemplate),
				Validate: kind.CheckCreate(validatePodTemplate), Warnings: kind.WarnCreate(warnOfPodTemplate),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            podspec.PrepareTemplateUpdate(ownTemplate),
				Validate:           kind.CheckAgain(validatePodTemplate), Warnings: kind.WarnGeneration(warnOfPodTemplate),
			},
			Delete: registry.DeleteStrategy{ReturnObject: true},
		},
		Columns: registry.Columns{
			Definitions: []metav1.TableColumnDefinition{
				kind.NameColumn(),
				kind.Column("Containers", "string", "Names of each container in the template."),
				kind.Column("Images", "string", "Images referenced by each container in the template."),
				kind.Column("Pod Labels", "string", "The labels for the pod template."),
			},
			Row: kind.Row(func(t *corev1.PodTemplate) []any {
				names, images := kind.ContainerCells(t.Template.Spec.Containers)
				return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
			}),
		},
	}.Build()
}

func ownTemplate(t *corev1.PodTemplate) *corev1.PodTemplateSpec { return &t.Template }
