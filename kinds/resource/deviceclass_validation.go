package resource

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNewClass(c *resourcev1.DeviceClass) field.ErrorList {
	return validateClass(c, environment.NewExpressions, resourcev1.OpaqueParametersMaxLength)
}

// validateClassUpdate accepts unchanged selectors and parameters under the rules for stored ones,
// which include expressions of later releases.
func validateClassUpdate(c, old *resourcev1.DeviceClass) field.ErrorList {
	mode, longest := environment.NewExpressions, resourcev1.OpaqueParametersMaxLength
	if equality.Semantic.DeepEqual(c.Spec.Selectors, old.Spec.Selectors) {
		mode = environment.StoredExpressions
	}
	if equality.Semantic.DeepEqual(c.Spec.Config, old.Spec.Config) {
		longest = unlimited
	}
	return validateClass(c, mode, longest)
}

func validateClass(c *resourcev1.DeviceClass, mode environment.Type, longest int) field.ErrorList {
	spec := field.NewPath("spec")
	errs := slices.Concat(
		validateSelectors(c.Spec.Selectors, mode, spec.Child("selectors")),
		each(c.Spec.Config, resourcev1.DeviceConfigMaxSize, spec.Child("config"),
			func(c resourcev1.DeviceClassConfiguration, at *field.Path) field.ErrorList {
				return validateConfiguration(c.DeviceConfiguration, longest, at)
			}),
	)
	if name := c.Spec.ExtendedResourceName; name != nil && !isExtendedName(*name) {
		errs = append(errs, field.Invalid(spec.Child("extendedResourceName"), *name, "must be a valid extended resource name"))
	}
	return errs
}

// isExtendedName reports whether a name is valid for an extended resource, and for its quota.
func isExtendedName(name string) bool {
	return !podspec.IsNative(corev1.ResourceName(name)) && !strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) &&
		len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name)) == 0
}
