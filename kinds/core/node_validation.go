package core

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNode(n *corev1.Node) field.ErrorList {
	errs := validateNodeAnnotations(n.Annotations)
	errs = append(errs, validateNodeTaints(n)...)
	errs = append(errs, validateNodeResources(&n.Status)...)
	errs = append(errs, validateSwap(n.Status.NodeInfo.Swap)...)
	errs = append(errs, validateDeclaredFeatures(n.Status.DeclaredFeatures, field.NewPath("status", "declaredFeatures"))...)
	return append(errs, validatePodCIDRs(n.Spec.PodCIDRs, field.NewPath("spec", "podCIDRs"))...)
}

// validateNodeTaints reports errors under metadata, as kube-apiserver does.
func validateNodeTaints(n *corev1.Node) field.ErrorList {
	return podspec.ValidateTaints(n.Spec.Taints, field.NewPath("metadata", "taints"))
}

func validateNodeResources(s *corev1.NodeStatus) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name   string
		amount corev1.ResourceList
	}{{"capacity", s.Capacity}, {"allocatable", s.Allocatable}} {
		for _, name := range slices.Sorted(maps.Keys(list.amount)) {
			errs = append(errs, podspec.ValidateAmount(name, list.amount[name], field.NewPath("status", list.name, string(name)))...)
		}
	}
	return errs
}

// validatePodCIDRs requires at most one range of each IP family.
func validatePodCIDRs(list []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, cidr := range list {
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(at.Index(i), cidr, true, nil)...)
	}
	if len(list) < 2 {
		return errs
	}
	dual, err := netutils.IsDualStackCIDRStrings(list)
	if err != nil {
		errs = append(errs, field.InternalError(at, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	if !dual || len(list) > 2 {
		errs = append(errs, field.Invalid(at, list, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}

// validateSwap reports errors under metadata, as kube-apiserver does.
func validateSwap(swap *corev1.NodeSwapStatus) field.ErrorList {
	if swap == nil || swap.Capacity == nil || *swap.Capacity > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "nodeSwapStatus", "capacity"), *swap.Capacity, "must be greater than zero")}
}

// featureName matches capitalized words that are joined by slashes.
var featureName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(/[A-Za-z][A-Za-z0-9]*)*$`)

// validateDeclaredFeatures requires unique names in sorted order.
func validateDeclaredFeatures(names []string, at *field.Path) field.ErrorList {
	const most = utilvalidation.DNS1123SubdomainMaxLength
	var errs field.ErrorList
	for i, name := range names {
		at := at.Index(i)
		if i > 0 && names[i-1] == name {
			errs = append(errs, field.Duplicate(at, name))
		}
		if i > 0 && names[i-1] > name {
			errs = append(errs, field.Invalid(at, name, "list must be sorted alphabetically"))
		}
		switch {
		case len(name) > most:
			errs = append(errs, field.Invalid(at, name, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, most)))
		case !featureName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, "+
				"with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name)))
		}
	}
	return errs
}

// validateProviderID allows the ID to be set once.
func validateProviderID(now, was string, features *feature.Set, at *field.Path) field.ErrorList {
	switch {
	case was == "" || now == was:
		return nil
	case !features.Enabled(feature.TagValidation):
		return field.ErrorList{field.Forbidden(at, `node updates may not change providerID except from "" to valid`)}
	case now == "":
		return kind.ByTag(field.ErrorList{field.Invalid(at, nil, "field cannot be cleared once set")})
	}
	return kind.ByTag(field.ErrorList{field.Invalid(at, nil, "field cannot be modified once set")})
}

// validateNodeUpdate reports some errors twice, as kube-apiserver does.
func validateNodeUpdate(n, old *corev1.Node, features *feature.Set) field.ErrorList {
	errs := append(validateNode(n), kind.ValidateFinalizers(n)...)
	return append(errs, validateNodeStatus(n, old, features)...)
}

// validateNodeStatus validates the spec too. Fields of the spec that a controller has set are
// immutable.
func validateNodeStatus(n, old *corev1.Node, features *feature.Set) field.ErrorList {
	spec, status := field.NewPath("spec"), field.NewPath("status")
	errs := validateNodeAnnotations(n.Annotations)
	errs = append(errs, validateNodeResources(&n.Status)...)
	errs = append(errs, validateDeclaredFeatures(n.Status.DeclaredFeatures, status.Child("declaredFeatures"))...)
	addresses := sets.New[corev1.NodeAddress]()
	for i, address := range n.Status.Addresses {
		if addresses.Has(address) {
			errs = append(errs, field.Duplicate(status.Child("addresses").Index(i), kind.GoJSON(address)))
		}
		addresses.Insert(address)
	}
	if len(old.Spec.PodCIDRs) > 0 && !slices.Equal(n.Spec.PodCIDRs, old.Spec.PodCIDRs) {
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
	}
	errs = append(errs, validateProviderID(n.Spec.ProviderID, old.Spec.ProviderID, features, spec.Child("providerID"))...)
	errs = append(errs, validateNodeTaints(n)...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(spec.Child("externalID"), "may not be updated"))
	}
	return errs
}
