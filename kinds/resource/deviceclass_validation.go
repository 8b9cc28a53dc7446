package resource

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateNewClass(c *resourcev1.DeviceClass) field.ErrorList {
	errs := validateClass(c, environment.NewExpressions, resourcev1.OpaqueParametersMaxLength)
	return append(errs, kind.ValidateTaggedName(c)...)
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
	if name := c.Spec.ExtendedResourceName; name != nil {
		errs = append(errs, validateExtendedName(*name, spec.Child("extendedResourceName"))...)
	}
	return errs
}

// validateExtendedName requires a name that is valid for an extended resource, and for its quota.
func validateExtendedName(name string, at *field.Path) field.ErrorList {
	const native = corev1.ResourceDefaultNamespacePrefix
	var errs field.ErrorList
	switch {
	case !strings.Contains(name, "/"):
		errs = append(errs, field.Invalid(at, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'"))
	case strings.Contains(name, native):
		errs = append(errs, field.Invalid(at, name, fmt.Sprintf("must not have %q domain", native)))
	}
	if strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) {
		errs = append(errs, field.Invalid(at, name, fmt.Sprintf("must not have %q prefix", corev1.DefaultResourceRequestsPrefix)))
	}
	return append(errs, kind.Invalid(at, name, content.IsLabelKey(corev1.DefaultResourceRequestsPrefix+name))...)
}
