package storage

import (
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

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
	errs := kind.Required(at, id)
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

// validateTopologyKeys reports errors at the driver, not at the key, as kube-apiserver does.
func validateTopologyKeys(keys []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for _, key := range keys {
		errs = append(errs, kind.Required(at, key)...)
		if seen.Has(key) {
			errs = append(errs, field.Duplicate(at, key))
		}
		seen.Insert(key)
		errs = append(errs, kind.Invalid(at, key, utilvalidation.IsQualifiedName(key))...)
	}
	return errs
}

// validateNodeUpdate rejects changes of a driver other than to its allocatable volumes. Drivers can
// be added and removed.
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
