package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

// podEphemeralContainers returns the subresource that adds containers to a running pod.
func podEphemeralContainers(features *feature.Set, disabled kind.DisabledFields[*corev1.Pod]) registry.Subresource {
	return kind.Write[*corev1.Pod]{
		AllowUnconditional: true,
		Prepare: func(_ context.Context, p, old *corev1.Pod) {
			wanted := p.Spec.EphemeralContainers
			keepPod(p, old)
			p.Spec.EphemeralContainers = wanted
			disabled.Drop(p, old)
			countPodGeneration(p, old)
		},
		Validate: func(p, old *corev1.Pod) field.ErrorList { return validateEphemeralContainers(p, old, features) },
	}.Subresource("ephemeralcontainers")
}

func validateEphemeralContainers(p, old *corev1.Pod, features *feature.Set) field.ErrorList {
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	errs := podspec.ValidatePod(p, features)
	errs = append(errs, validateFixedAnnotations(p, old)...)
	path := field.NewPath("spec", "ephemeralContainers")
	wanted := make(map[string]*corev1.EphemeralContainer, len(p.Spec.EphemeralContainers))
	for i := range p.Spec.EphemeralContainers {
		wanted[p.Spec.EphemeralContainers[i].Name] = &p.Spec.EphemeralContainers[i]
	}
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		now, ok := wanted[was.Name]
		switch {
		case !ok:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		case !equality.Semantic.DeepEqual(now, was):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%s", was.Name, kind.GoDiff(*was, *now))))
		}
	}
	return errs
}
