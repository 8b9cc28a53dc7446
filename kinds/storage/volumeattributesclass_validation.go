package storage

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateAttributesClass(c *storagev1.VolumeAttributesClass) field.ErrorList {
	errs := slices.Concat(
		validateProvisioner(c.DriverName, field.NewPath("driverName")),
		validateParameters(c.Parameters, field.NewPath("parameters")),
	)
	if len(c.Parameters) == 0 {
		errs = append(errs, field.Required(field.NewPath("parameters"), "must contain at least one key/value pair"))
	}
	return errs
}

func validateAttributesClassUpdate(c, old *storagev1.VolumeAttributesClass) field.ErrorList {
	return slices.Concat(
		forbidChange("driverName", c.DriverName, old.DriverName),
		forbidChange("parameters", c.Parameters, old.Parameters),
		validateAttributesClass(c),
	)
}
