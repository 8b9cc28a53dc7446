package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateNode(n *corev1.Node) field.ErrorList {
	errs := append(kind.Finalizers(n), validateNodeTaints(n)...)
	errs = append(errs, validateNodeResources(&n.Status)...)
	return append(errs, validatePodCIDRs(n.Spec.PodCIDRs, field.NewPath("spec", "podCIDRs"))...)
}

// validateNodeTaints reports at the metadata, as kube-apiserver does.
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

// validatePodCIDRs wants one range of each family at most.
func validatePodCIDRs(list []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, cidr := range list {
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(at.Index(i), cidr, true, nil)...)
	}
	if len(list) < 2 || len(errs) > 0 {
		return errs
	}
	if dual, err := netutils.IsDualStackCIDRStrings(list); err != nil || !dual || len(list) > 2 {
		errs = append(errs, field.Invalid(at, list, "may specify no more than one CIDR for each IP family"))
	}
	taken := sets.New[string]()
	for i, cidr := range list {
		if taken.Has(cidr) {
			errs = append(errs, field.Duplicate(at.Index(i), cidr))
		}
		taken.Insert(cidr)
	}
	return errs
}

// validateNodeUpdate tells some faults twice, for kube-apiserver does.
func validateNodeUpdate(n, old *corev1.Node) field.ErrorList {
	return append(validateNode(n), validateNodeStatus(n, old)...)
}

// validateNodeStatus looks at the spec too. What a controller has given to a
// node stays.
func validateNodeStatus(n, old *corev1.Node) field.ErrorList {
	spec, status := field.NewPath("spec"), field.NewPath("status")
	errs := validateNodeResources(&n.Status)
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
	if old.Spec.ProviderID != "" && n.Spec.ProviderID != old.Spec.ProviderID {
		errs = append(errs, field.Forbidden(spec.Child("providerID"), `node updates may not change providerID except from "" to valid`))
	}
	errs = append(errs, validateConfigSource(n.Spec.ConfigSource, false, spec.Child("configSource"))...)
	if c := n.Status.Config; c != nil {
		at := status.Child("config")
		errs = append(errs, validateConfigSource(c.Assigned, true, at.Child("assigned"))...)
		errs = append(errs, validateConfigSource(c.Active, true, at.Child("active"))...)
		errs = append(errs, validateConfigSource(c.LastKnownGood, true, at.Child("lastKnownGood"))...)
	}
	errs = append(errs, validateNodeTaints(n)...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(spec.Child("externalID"), "may not be updated"))
	}
	return errs
}

// validateConfigSource: a spec names a ConfigMap, a status one version of it.
func validateConfigSource(source *corev1.NodeConfigSource, exact bool, at *field.Path) field.ErrorList {
	switch {
	case source == nil:
		return nil
	case source.ConfigMap == nil:
		return field.ErrorList{field.Invalid(at, kind.GoJSON(source), "exactly one reference subfield must be non-nil")}
	}
	var errs field.ErrorList
	at = at.Child("configMap")
	for _, f := range []struct{ name, value string }{
		{"uid", string(source.ConfigMap.UID)},
		{"resourceVersion", source.ConfigMap.ResourceVersion},
	} {
		switch {
		case exact && f.value == "":
			errs = append(errs, field.Required(at.Child(f.name), f.name+" must be set in status"))
		case !exact && f.value != "":
			errs = append(errs, field.Forbidden(at.Child(f.name), f.name+" must not be set in spec"))
		}
	}
	named := func(name, value string, valid func(string) []string) {
		if value == "" {
			errs = append(errs, field.Required(at.Child(name), name+" must be set"))
		} else {
			errs = append(errs, kind.Invalid(at.Child(name), value, valid(value))...)
		}
	}
	named("namespace", source.ConfigMap.Namespace, func(s string) []string { return validation.ValidateNamespaceName(s, false) })
	named("name", source.ConfigMap.Name, func(s string) []string { return validation.NameIsDNSSubdomain(s, false) })
	named("kubeletConfigKey", source.ConfigMap.KubeletConfigKey, utilvalidation.IsConfigMapKey)
	return errs
}
