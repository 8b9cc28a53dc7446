package storage

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

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
