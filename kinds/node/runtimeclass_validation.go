package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateRuntimeClass(c *nodev1.RuntimeClass, features *feature.Set) field.ErrorList {
	errs := kind.ByTag(kind.Formatted(field.NewPath("handler"), c.Handler, utilvalidation.IsDNS1123Label))
	if c.Overhead != nil {
		errs = append(errs, podspec.ValidateOverhead(c.Overhead.PodFixed, field.NewPath("overhead"))...)
	}
	if s := c.Scheduling; s != nil {
		at := field.NewPath("scheduling")
		errs = slices.Concat(errs,
			metavalidation.ValidateLabels(s.NodeSelector, at.Child("nodeSelector")),
			podspec.ValidateTolerations(s.Tolerations, features, at.Child("tolerations")),
			validateDistinct(s.Tolerations, at.Child("tolerations")),
		)
	}
	return errs
}

// validateDistinct requires tolerations that differ in more than tolerationSeconds.
func validateDistinct(tolerations []corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[corev1.Toleration]()
	for i, t := range tolerations {
		key := t
		key.TolerationSeconds = nil
		if seen.Has(key) {
			errs = append(errs, field.Duplicate(at.Index(i), kind.GoJSON(t)))
		}
		seen.Insert(key)
	}
	return errs
}

func validateRuntimeClassUpdate(c, old *nodev1.RuntimeClass, features *feature.Set) field.ErrorList {
	return append(validateRuntimeClass(c, features), kind.ImmutableByTag(features, field.NewPath("handler"), c.Handler, old.Handler)...)
}
