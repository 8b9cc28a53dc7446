package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	return kind.Needed(field.NewPath("provisioner"), c.Provisioner)
}

// validateStorageClassUpdate keeps what volumes have been made by.
func validateStorageClassUpdate(c, old *storagev1.StorageClass) field.ErrorList {
	errs := validateStorageClass(c)
	fixed := func(name string, now, was any) {
		if !equality.Semantic.DeepEqual(now, was) {
			errs = append(errs, field.Forbidden(field.NewPath(name), "updates to "+name+" are forbidden."))
		}
	}
	fixed("parameters", c.Parameters, old.Parameters)
	fixed("provisioner", c.Provisioner, old.Provisioner)
	fixed("reclaimPolicy", c.ReclaimPolicy, old.ReclaimPolicy)
	return append(errs, validation.ValidateImmutableField(c.VolumeBindingMode, old.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
}
