package apps

import (
	"context"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

// The template generation of a DaemonSet exists for the controllers of old clusters. In
// kube-apiserver it is a field of the internal type that v1 shows as an annotation: every object
// has it, whatever a client sends, and its PartialObjectMetadata does not.

// templateGeneration is 0 for an object without the annotation, or with one that is not a number.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	generation, _ := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return generation
}

// setTemplateGeneration writes only a changed annotation: annotations may be shared.
func setTemplateGeneration(d *appsv1.DaemonSet, generation int64) {
	text := strconv.FormatInt(generation, 10)
	if d.Annotations[appsv1.DeprecatedTemplateGeneration] != text {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, appsv1.DeprecatedTemplateGeneration, text)
	}
}

func emptyDaemonSet() *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{}
	setTemplateGeneration(d, 0)
	return d
}

func startTemplateGeneration(_ context.Context, d *appsv1.DaemonSet) {
	setTemplateGeneration(d, max(templateGeneration(d), 1))
}

func countTemplateGeneration(_ context.Context, d, old *appsv1.DaemonSet) {
	generation := templateGeneration(old)
	if !kind.Same(&d.Spec.Template, &old.Spec.Template) {
		generation++
	}
	setTemplateGeneration(d, generation)
}

func keepTemplateGeneration(_ context.Context, d, old *appsv1.DaemonSet) {
	setTemplateGeneration(d, templateGeneration(old))
}

func withoutTemplateGeneration(m metav1.ObjectMeta) metav1.ObjectMeta {
	if _, ok := m.Annotations[appsv1.DeprecatedTemplateGeneration]; ok {
		m.Annotations = maps.Clone(m.Annotations)
		delete(m.Annotations, appsv1.DeprecatedTemplateGeneration)
	}
	return m
}
