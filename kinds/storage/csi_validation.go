package storage

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

const (
	longestDriver = 63
	longestNodeID = 256
	shortestToken = 600     // seconds
	longestToken  = 1 << 32 // seconds
	shortestWait  = 10      // seconds between two looks at what a node can hold
)

func validateDriverName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > longestDriver {
		errs = append(errs, field.TooLong(at, "", longestDriver))
	}
	return append(errs, kind.Invalid(at, name, utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

func validateDriver(d *storagev1.CSIDriver) field.ErrorList {
	spec := field.NewPath("spec")
	errs := slices.Concat(
		kind.SupportedIfSet(spec.Child("fsGroupPolicy"), d.Spec.FSGroupPolicy, storagev1.FileFSGroupPolicy,
			storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy),
		validateTokenRequests(d.Spec.TokenRequests, spec.Child("tokenRequests")),
	)
	for _, mode := range d.Spec.VolumeLifecycleModes {
		errs = append(errs, kind.Supported(spec.Child("volumeLifecycleModes"), mode,
			storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if n := d.Spec.NodeAllocatableUpdatePeriodSeconds; n != nil && *n < shortestWait {
		errs = append(errs, field.Invalid(spec.Child("nodeAllocatableUpdatePeriodSeconds"), *n, "must be greater than or equal to 10 seconds"))
	}
	if d.Spec.ServiceAccountTokenInSecrets != nil && len(d.Spec.TokenRequests) == 0 {
		errs = append(errs, field.Invalid(spec.Child("serviceAccountTokenInSecrets"), *d.Spec.ServiceAccountTokenInSecrets,
			"serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

func warnOfNewDriver(d *storagev1.CSIDriver) []string {
	if len(d.Spec.TokenRequests) == 0 || d.Spec.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, " +
		"set to true to prevent possible logging of tokens in volume attributes"}
}

func warnOfChangedDriver(d, old *storagev1.CSIDriver) []string {
	if equality.Semantic.DeepEqual(d.Spec.TokenRequests, old.Spec.TokenRequests) {
		return nil
	}
	return warnOfNewDriver(d)
}

// validateDriverUpdate names a field by a path that it does not have, for
// kube-apiserver does.
func validateDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	return slices.Concat(
		validateDriver(d),
		kind.Immutable(field.NewPath("spec", "attachedRequired"), d.Spec.AttachRequired, old.Spec.AttachRequired),
		kind.Immutable(field.NewPath("spec", "volumeLifecycleModes"), d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes),
	)
}

func validateTokenRequests(requests []storagev1.TokenRequest, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	audiences := sets.New[string]()
	for i, r := range requests {
		at := at.Index(i)
		if audiences.Has(r.Audience) {
			errs = append(errs, field.Duplicate(at.Child("audience"), r.Audience))
			continue
		}
		audiences.Insert(r.Audience)
		switch n := r.ExpirationSeconds; {
		case n == nil:
		case *n < shortestToken:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration less than 10 minutes"))
		case *n > longestToken:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}

func validateNode(n *storagev1.CSINode) field.ErrorList {
	var errs field.ErrorList
	drivers := sets.New[string]()
	for i := range n.Spec.Drivers {
		d, at := &n.Spec.Drivers[i], field.NewPath("spec", "drivers").Index(i)
		errs = slices.Concat(errs,
			validateDriverName(d.Name, at.Child("name")),
			validateNodeID(d.NodeID, at.Child("nodeID")),
			validateAllocatable(d.Allocatable, at.Child("allocatable")),
		)
		if drivers.Has(d.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), d.Name))
		}
		drivers.Insert(d.Name)
		errs = append(errs, validateTopologyKeys(d.TopologyKeys, at)...)
	}
	return errs
}

func validateNodeID(id string, at *field.Path) field.ErrorList {
	errs := kind.Needed(at, id)
	if len(id) > longestNodeID {
		errs = append(errs, field.Invalid(at, id, fmt.Sprintf("must be %d characters or less", longestNodeID)))
	}
	return errs
}

func validateAllocatable(a *storagev1.VolumeNodeResources, at *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	return kind.NonNegative(at.Child("count"), a.Count)
}

// validateTopologyKeys tells faults at the driver, not at the key.
func validateTopologyKeys(keys []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for _, key := range keys {
		errs = append(errs, kind.Needed(at, key)...)
		if seen.Has(key) {
			errs = append(errs, field.Duplicate(at, key))
		}
		seen.Insert(key)
		errs = append(errs, kind.Invalid(at, key, utilvalidation.IsQualifiedName(key))...)
	}
	return errs
}

// validateNodeUpdate keeps what a node has said of a driver, but for how much
// that can hold: drivers come and go whole.
func validateNodeUpdate(n, old *storagev1.CSINode) field.ErrorList {
	errs := validateNode(n)
	for _, was := range old.Spec.Drivers {
		for _, now := range n.Spec.Drivers {
			if now.Name == was.Name {
				now.Allocatable, was.Allocatable = nil, nil
				errs = append(errs, kind.Immutable(field.NewPath("spec", "drivers"), now, was)...)
			}
		}
	}
	return errs
}

func validateCapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := slices.Concat(
		kind.Selector(field.NewPath("nodeTopology"), c.NodeTopology),
		kind.Invalid(field.NewPath("storageClassName"), c.StorageClassName, utilvalidation.IsDNS1123Subdomain(c.StorageClassName)),
	)
	if c.Capacity != nil {
		errs = append(errs, podspec.ValidateQuantity(*c.Capacity, field.NewPath("capacity"))...)
	}
	return errs
}

func validateCapacityUpdate(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	return slices.Concat(
		validateCapacity(c),
		kind.Immutable(field.NewPath("nodeTopology"), c.NodeTopology, old.NodeTopology),
		kind.Immutable(field.NewPath("storageClassName"), c.StorageClassName, old.StorageClassName),
	)
}
