package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateClaim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	spec := field.NewPath("spec")
	errs := metavalidation.ValidateLabelSelector(c.Spec.Selector, metavalidation.LabelSelectorValidationOptions{}, spec.Child("selector"))
	if len(c.Spec.AccessModes) == 0 {
		errs = append(errs, field.Required(spec.Child("accessModes"), "at least 1 access mode is required"))
	}
	for _, mode := range c.Spec.AccessModes {
		errs = append(errs, kind.OneOf(spec.Child("accessModes"), mode,
			corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)...)
	}
	size, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]
	at := spec.Child("resources").Key("storage")
	switch {
	case !ok:
		errs = append(errs, field.Required(at, ""))
	case size.Sign() <= 0:
		errs = append(errs, field.Invalid(at, size.String(), "must be greater than zero"))
	}
	return errs
}

// validateClaimUpdate keeps what storage is found and counted by. A claim that
// is bound may still ask for more, and for another class of attributes.
func validateClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := validateClaim(c)
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	if was.StorageClassName == nil {
		was.StorageClassName = now.StorageClassName
	}
	if now.DataSourceRef == nil {
		now.DataSourceRef = was.DataSourceRef // it follows from DataSource
	}
	if now.DataSource == nil {
		now.DataSource = was.DataSource
	}
	if c.Status.Phase == corev1.ClaimBound {
		keepStorage(now.Resources.Requests, was.Resources.Requests)
		if now.VolumeAttributesClassName != nil {
			now.VolumeAttributesClassName = was.VolumeAttributesClassName
		}
	}
	if equality.Semantic.DeepEqual(now, was) {
		return errs
	}
	return append(errs, field.Forbidden(field.NewPath("spec"),
		"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+kind.GoDiff(*was, *now)))
}

func keepStorage(requests, old map[corev1.ResourceName]resource.Quantity) {
	if requests != nil {
		requests[corev1.ResourceStorage] = old[corev1.ResourceStorage]
	}
}
