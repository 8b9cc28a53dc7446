package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// DropDisabled drops the fields of a spec whose feature gates are disabled, unless old has them.
// old may be nil.
func DropDisabled(spec, old *corev1.PodSpec) {
	if old == nil {
		old = &corev1.PodSpec{}
	}
	if old.SchedulingGroup == nil {
		spec.SchedulingGroup = nil
	}
	if !hasStopSignals(old) {
		dropStopSignals(spec)
	}
	for _, isDisabled := range []func(*corev1.VolumeProjection) bool{
		func(p *corev1.VolumeProjection) bool { return p.ClusterTrustBundle != nil },
		func(p *corev1.VolumeProjection) bool { return p.PodCertificate != nil },
	} {
		if !hasProjections(old, isDisabled) {
			dropProjections(spec, isDisabled)
		}
	}
}

// DropDisabledOfTemplate is DropDisabled for a template. Both may be nil.
func DropDisabledOfTemplate(template, old *corev1.PodTemplateSpec) {
	switch {
	case template == nil:
	case old == nil:
		DropDisabled(&template.Spec, nil)
	default:
		DropDisabled(&template.Spec, &old.Spec)
	}
}

// PrepareTemplate returns the function PrepareForCreate of a kind with a template.
func PrepareTemplate[T kind.Object](template func(obj T) *corev1.PodTemplateSpec) func(obj T) {
	return func(obj T) { DropDisabledOfTemplate(template(obj), nil) }
}

// PrepareTemplateUpdate returns the function PrepareForUpdate of a kind with a template.
func PrepareTemplateUpdate[T kind.Object](template func(obj T) *corev1.PodTemplateSpec) func(obj, old T) {
	return func(obj, old T) { DropDisabledOfTemplate(template(obj), template(old)) }
}

func hasStopSignals(spec *corev1.PodSpec) bool {
	found := false
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		found = found || c.Lifecycle != nil && c.Lifecycle.StopSignal != nil
	})
	return found
}

// dropStopSignals drops lifecycles that become empty.
func dropStopSignals(spec *corev1.PodSpec) {
	visitContainers(spec, nil, func(c *corev1.Container, _ *field.Path) {
		if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
			return
		}
		c.Lifecycle = &corev1.Lifecycle{PostStart: c.Lifecycle.PostStart, PreStop: c.Lifecycle.PreStop}
		if *c.Lifecycle == (corev1.Lifecycle{}) {
			c.Lifecycle = nil
		}
	})
}

func hasProjections(spec *corev1.PodSpec, wanted func(*corev1.VolumeProjection) bool) bool {
	for _, v := range spec.Volumes {
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(p corev1.VolumeProjection) bool { return wanted(&p) }) {
			return true
		}
	}
	return false
}

// dropProjections replaces each projection for which wanted returns true by an empty one, so that
// the indexes of the others stay.
func dropProjections(spec *corev1.PodSpec, wanted func(*corev1.VolumeProjection) bool) {
	for _, v := range spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for i := range v.Projected.Sources {
			source := &v.Projected.Sources[i]
			if wanted(source) {
				source.ClusterTrustBundle, source.PodCertificate = nil, nil
			}
		}
	}
}
