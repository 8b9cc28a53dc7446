package resource

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateClaim(c *resourcev1.ResourceClaim) field.ErrorList {
	return validateDevices(&c.Spec.Devices, field.NewPath("spec", "devices"))
}

func claimUpdateValidation(features *feature.Set) func(c, old *resourcev1.ResourceClaim) field.ErrorList {
	return func(c, old *resourcev1.ResourceClaim) field.ErrorList {
		return kind.ImmutableByTag(features, field.NewPath("spec"), c.Spec, old.Spec)
	}
}

func validateTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validation.ValidateAnnotations(t.Spec.Annotations, spec.Child("metadata", "annotations")),
		metavalidation.ValidateLabels(t.Spec.Labels, spec.Child("metadata", "labels")),
		validateTemplateMeta(&t.Spec.ObjectMeta, spec.Child("metadata")),
		validateDevices(&t.Spec.Spec.Devices, spec.Child("spec", "devices")),
	)
}

// validateTemplateMeta rejects all fields but labels and annotations.
func validateTemplateMeta(m *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", m.Name != ""},
		{"generateName", m.GenerateName != ""},
		{"namespace", m.Namespace != ""},
		{"selfLink", m.SelfLink != ""},
		{"uID", m.UID != ""}, // as kube-apiserver spells it
		{"resourceVersion", m.ResourceVersion != ""},
		{"generation", m.Generation != 0},
		{"creationTimestamp", !m.CreationTimestamp.IsZero()},
		{"deletionTimestamp", m.DeletionTimestamp != nil},
		{"deletionGracePeriodSeconds", m.DeletionGracePeriodSeconds != nil},
		{"ownerReferences", m.OwnerReferences != nil},
		{"finalizers", m.Finalizers != nil},
		{"managedFields", m.ManagedFields != nil},
	} {
		if f.set {
			errs = append(errs, field.Forbidden(at.Child(f.name), "cannot be set"))
		}
	}
	return errs
}

func validateTemplateUpdate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	return append(validateTemplate(t), kind.Immutable(field.NewPath("spec"), t.Spec, old.Spec)...)
}

// names holds the names of the requests of a claim, each with the names of its subrequests.
type names map[string]sets.Set[string]

func namesOf(c *resourcev1.DeviceClaim) names {
	n := names{}
	for _, r := range c.Requests {
		n[r.Name] = sets.New[string]()
		for _, sub := range r.FirstAvailable {
			n[r.Name].Insert(sub.Name)
		}
	}
	return n
}

// validateRef requires the name of a request, or of a request and one of its subrequests.
func (n names) validateRef(name string, at *field.Path) field.ErrorList {
	request, sub, ok := strings.Cut(name, "/")
	const message = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	if strings.Contains(sub, "/") {
		return field.ErrorList{field.Invalid(at, name, message)}
	}
	errs := kind.Invalid(at, request, utilvalidation.IsDNS1123Label(request))
	if ok {
		errs = append(errs, kind.Invalid(at, sub, utilvalidation.IsDNS1123Label(sub))...)
	}
	if subs, known := n[request]; !known || ok && !subs.Has(sub) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	return errs
}

func (n names) validateRefs(list []string, at *field.Path) field.ErrorList {
	errs := each(list, resourcev1.DeviceRequestsMaxSize, at, n.validateRef)
	return append(errs, unique(list, at, identity)...)
}

func validateDevices(c *resourcev1.DeviceClaim, at *field.Path) field.ErrorList {
	known := namesOf(c)
	return slices.Concat(
		each(c.Requests, resourcev1.DeviceRequestsMaxSize, at.Child("requests"), validateRequest),
		uniqueObjects(c.Requests, at.Child("requests"), func(r resourcev1.DeviceRequest) string { return r.Name }),
		each(c.Constraints, resourcev1.DeviceConstraintsMaxSize, at.Child("constraints"), known.validateConstraint),
		each(c.Config, resourcev1.DeviceConfigMaxSize, at.Child("config"), func(c resourcev1.DeviceClaimConfiguration, at *field.Path) field.ErrorList {
			return append(known.validateRefs(c.Requests, at.Child("requests")), validateConfiguration(c.DeviceConfiguration, resourcev1.OpaqueParametersMaxLength, at)...)
		}),
	)
}

func validateRequest(r resourcev1.DeviceRequest, at *field.Path) field.ErrorList {
	errs := dnsLabel(r.Name, at.Child("name"))
	first := at.Child("firstAvailable")
	errs = append(errs, uniqueObjects(r.FirstAvailable, first, func(s resourcev1.DeviceSubRequest) string { return s.Name })...)
	switch alternatives := len(r.FirstAvailable) > 0; {
	case !alternatives && r.Exactly == nil:
		errs = append(errs, field.Required(at, "exactly one of `exactly` or `firstAvailable` is required"))
	case alternatives && r.Exactly != nil:
		errs = append(errs, field.Invalid(at, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
		errs = append(errs, each(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, first, validateSubRequestClass)...)
	case alternatives:
		errs = append(errs, each(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, first, validateSubRequest)...)
	default:
		e, at := r.Exactly, at.Child("exactly")
		errs = slices.Concat(errs,
			kind.Formatted(at.Child("deviceClassName"), e.DeviceClassName, utilvalidation.IsDNS1123Subdomain),
			validateSelectors(e.Selectors, environment.NewExpressions, at.Child("selectors")),
			validateAmount(e.AllocationMode, e.Count, at),
			each(e.Tolerations, resourcev1.DeviceTolerationsMaxLength, at.Child("tolerations"), validateToleration),
		)
	}
	return errs
}

// validateSubRequestClass validates the field that the type has a tag for. All others are valid if
// the request has exactly, too.
func validateSubRequestClass(s resourcev1.DeviceSubRequest, at *field.Path) field.ErrorList {
	return kind.ByTag(kind.Formatted(at.Child("deviceClassName"), s.DeviceClassName, utilvalidation.IsDNS1123Subdomain))
}

func validateSubRequest(s resourcev1.DeviceSubRequest, at *field.Path) field.ErrorList {
	return slices.Concat(
		dnsLabel(s.Name, at.Child("name")),
		validateSubRequestClass(s, at),
		validateSelectors(s.Selectors, environment.NewExpressions, at.Child("selectors")),
		validateAmount(s.AllocationMode, s.Count, at),
		each(s.Tolerations, resourcev1.DeviceTolerationsMaxLength, at.Child("tolerations"), validateToleration),
	)
}

func validateAmount(mode resourcev1.DeviceAllocationMode, n int64, at *field.Path) field.ErrorList {
	switch {
	case mode == resourcev1.DeviceAllocationModeAll && n != 0:
		return field.ErrorList{field.Invalid(at.Child("count"), n, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode))}
	case mode == resourcev1.DeviceAllocationModeExactCount && n <= 0:
		return field.ErrorList{field.Invalid(at.Child("count"), n, "must be greater than zero")}
	}
	return kind.Supported(at.Child("allocationMode"), mode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
}

func (n names) validateConstraint(c resourcev1.DeviceConstraint, at *field.Path) field.ErrorList {
	errs := n.validateRefs(c.Requests, at.Child("requests"))
	if name := c.MatchAttribute; name != nil {
		errs = append(errs, kind.ByTag(validateFullName(string(*name), at.Child("matchAttribute")))...)
	}
	if name := c.DistinctAttribute; name != nil {
		errs = append(errs, kind.ByTag(validateFullName(string(*name), at.Child("distinctAttribute")))...)
	}
	if c.MatchAttribute != nil || c.DistinctAttribute != nil {
		return errs
	}
	return append(errs, field.Required(at, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}
