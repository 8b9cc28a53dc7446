package podspec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validatePodClaims validates the resource claims and records their names.
func validatePodClaims(s *scope, at *field.Path) field.ErrorList {
	if len(s.ResourceClaims) == 0 {
		return nil
	}
	var errs field.ErrorList
	s.claims = sets.New[string]()
	for i := range s.ResourceClaims {
		c, at := &s.ResourceClaims[i], at.Index(i)
		if s.claims.Has(c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		} else {
			errs = append(errs, dnsLabel(c.Name, at.Child("name"))...)
		}
		if c.Name != "" {
			s.claims.Insert(c.Name)
		}
		errs = append(errs, validateClaimSource(c, at)...)
	}
	return errs
}

// validateClaimSource requires either a claim or a template.
func validateClaimSource(c *corev1.PodResourceClaim, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil:
		errs = append(errs, field.Invalid(at, kind.GoJSON(c), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
	case c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil:
		errs = append(errs, field.Invalid(at, kind.GoJSON(c), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
	}
	check := func(field string, name *string) {
		if name != nil {
			errs = append(errs, kind.Invalid(at.Child(field), *name, validation.NameIsDNSSubdomain(*name, false))...)
		}
	}
	check("resourceClaimName", c.ResourceClaimName)
	check("resourceClaimTemplateName", c.ResourceClaimTemplateName)
	return errs
}

// validateClaimNames requires claims of the pod. A container uses a claim either as a whole or by
// its requests.
func validateClaimNames(s *scope, claims []corev1.ResourceClaim, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	whole, parts := sets.New[string](), map[string]sets.Set[string]{}
	for i, c := range claims {
		at := at.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		switch {
		case whole.Has(c.Name):
			errs = append(errs, field.Duplicate(at, c.Name))
		case c.Request == "":
			for range parts[c.Name] {
				errs = append(errs, field.Duplicate(at, c.Name))
			}
			whole.Insert(c.Name)
		default:
			errs = append(errs, kind.Invalid(at.Child("request"), c.Request, utilvalidation.IsDNS1123Label(c.Request))...)
			if parts[c.Name].Has(c.Request) {
				errs = append(errs, field.Duplicate(at, c.Name+"/"+c.Request))
			}
			if parts[c.Name] == nil {
				parts[c.Name] = sets.New[string]()
			}
			parts[c.Name].Insert(c.Request)
		}
		if !s.claims.Has(c.Name) {
			errs = append(errs, s.unknownClaim(c.Name, at))
		}
	}
	return errs
}

func (s *scope) unknownClaim(name string, at *field.Path) *field.Error {
	unknown := field.NotFound(at, name)
	unknown.Detail = "must be one of the names in pod.spec.resourceClaims"
	if len(s.claims) == 0 {
		unknown.Detail += " which is empty"
	} else {
		unknown.Detail += ": " + strings.Join(slices.Sorted(maps.Keys(s.claims)), ", ")
	}
	return unknown
}
