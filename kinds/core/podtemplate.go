package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func podTemplates(features *feature.Set) *registry.Resource {
	return kind.Definition[*corev1.PodTemplate]{
		GroupVersion: corev1.SchemeGroupVersion,
		Object:       &corev1.PodTemplate{},
		List:         &corev1.PodTemplateList{},
		Resource:     "podtemplates",
		Namespaced:   true,
		Generation:   true,
		Changed: func(t, old *corev1.PodTemplate) bool {
			return !kind.Same(&t.Template, &old.Template)
		},
		Default:                  defaultPodTemplate,
		Validate:                 func(t *corev1.PodTemplate) field.ErrorList { return validatePodTemplate(t, features) },
		GatedFields:              podspec.GatedFields("template.spec"),
		WarningsOnCreate:         warningsForPodTemplate,
		AllowUnconditionalUpdate: true,
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForPodTemplate),
		ReturnDeletedObject:      true,
		Columns:                  podTemplateColumns(),
	}.Build(features)
}

func podTemplateColumns() []kind.Column[*corev1.PodTemplate] {
	columns := []kind.Column[*corev1.PodTemplate]{kind.NameColumn[*corev1.PodTemplate]()}
	columns = append(columns, kind.TemplateColumns(ownTemplate)...)
	return append(columns, kind.TextColumn("Pod Labels", "The labels for the pod template.",
		func(t *corev1.PodTemplate) any { return labels.FormatLabels(t.Template.Labels) }))
}

func ownTemplate(t *corev1.PodTemplate) *corev1.PodTemplateSpec { return &t.Template }
