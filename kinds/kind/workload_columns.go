package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// WorkloadColumns returns the columns of a kind with a pod template: StandardColumns and, as wide
// columns, TemplateColumns.
func WorkloadColumns[T Object](template func(obj T) *corev1.PodTemplateSpec, columns ...Column[T]) []Column[T] {
	wide := TemplateColumns(template)
	for i := range wide {
		wide[i].Priority = Wide
	}
	return append(StandardColumns(columns...), wide...)
}

// TemplateColumns returns columns with the names and the images of the containers of a pod
// template, which may be nil.
func TemplateColumns[T Object](template func(obj T) *corev1.PodTemplateSpec) []Column[T] {
	join := func(part func(c *corev1.Container) string) func(obj T) any {
		return func(obj T) any {
			var parts []string
			if t := template(obj); t != nil {
				for i := range t.Spec.Containers {
					parts = append(parts, part(&t.Spec.Containers[i]))
				}
			}
			return strings.Join(parts, ",")
		}
	}
	return []Column[T]{
		TextColumn("Containers", "Names of each container in the template.",
			join(func(c *corev1.Container) string { return c.Name })),
		TextColumn("Images", "Images referenced by each container in the template.",
			join(func(c *corev1.Container) string { return c.Image })),
	}
}
