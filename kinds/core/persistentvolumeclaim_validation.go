package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateClaim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	return podspec.ValidateClaimSpec(&c.Spec, field.NewPath("spec"))
}

// validateClaimUpdate allows a bound claim to request more storage and another class of attributes.
// All other fields of the spec are immutable.
func validateClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := append(kind.ValidateFinalizers(c), validateClaim(c)...)
	spec := field.NewPath("spec")
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	errs = append(errs, validateClassUpdate(c, old)...)
	if assignsClass(c, old) {
		now.StorageClassName = nil
	}
	if c.Status.Phase == corev1.ClaimBound {
		keepStorage(now.Resources.Requests, was.Resources.Requests)
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(spec,
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+kind.GoDiff(*was, *now)))
	}
	errs = append(errs, validateShrinking(c, old, spec)...)
	errs = append(errs, validation.ValidateImmutableField(c.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	return append(errs, validateKeptAttributes(c, old, spec.Child("volumeAttributesClassName"))...)
}

// assignsClass reports whether a claim without a class, or with one in the annotation of old
// clients, is assigned its class.
func assignsClass(c, old *corev1.PersistentVolumeClaim) bool {
	if old.Spec.StorageClassName != nil || c.Spec.StorageClassName == nil {
		return false
	}
	class, ok := old.Annotations[corev1.BetaStorageClassAnnotation]
	return !ok || *c.Spec.StorageClassName == class
}

// validateClassUpdate allows the removal of the annotation if the field has its value.
func validateClassUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	now, ok := c.Annotations[corev1.BetaStorageClassAnnotation]
	was, had := old.Annotations[corev1.BetaStorageClassAnnotation]
	if now == was || had && !ok && assignsClass(c, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations", corev1.BetaStorageClassAnnotation), now, validation.FieldImmutableErrorMsg)}
}

// validateShrinking allows a smaller request than before, but not a smaller one than the capacity.
func validateShrinking(c, old *corev1.PersistentVolumeClaim, spec *field.Path) field.ErrorList {
	now, was := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	got := old.Status.Capacity[corev1.ResourceStorage]
	if now.Cmp(was) >= 0 || now.Cmp(got) > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity")}
}

// validateKeptAttributes rejects the removal of a class of attributes from a bound claim.
func validateKeptAttributes(c, old *corev1.PersistentVolumeClaim, at *field.Path) field.ErrorList {
	now, was := c.Spec.VolumeAttributesClassName, old.Spec.VolumeAttributesClassName
	switch {
	case ptr.Equal(now, was) || old.Status.CurrentVolumeAttributesClassName == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(at, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")}
	case *now == "":
		return field.ErrorList{field.Forbidden(at, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil")}
	}
	return nil
}

func keepStorage(requests, old map[corev1.ResourceName]resource.Quantity) {
	if requests != nil {
		requests[corev1.ResourceStorage] = old[corev1.ResourceStorage]
	}
}

// validateClaimStatus validates the capacity of a claim and its pending changes.
func validateClaimStatus(c, _ *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	status := field.NewPath("status")
	for _, name := range slices.Sorted(maps.Keys(c.Status.Capacity)) {
		errs = append(errs, validateAmountGot(c.Status.Capacity[name], status.Child("capacity").Key(string(name)))...)
	}
	resizing := status.Child("allocatedResourceStatuses")
	for _, name := range slices.Sorted(maps.Keys(c.Status.AllocatedResourceStatuses)) {
		state := c.Status.AllocatedResourceStatuses[name]
		errs = append(errs, validateClaimResource(name, resizing)...)
		if len(kind.Supported(resizing, state, resizeStates...)) > 0 {
			errs = append(errs, field.NotSupported(resizing, name, resizeStates))
		}
	}
	allocated := status.Child("allocatedResources")
	for _, name := range slices.Sorted(maps.Keys(c.Status.AllocatedResources)) {
		resourceErrs := validateClaimResource(name, allocated)
		if len(resourceErrs) == 0 {
			resourceErrs = validateAmountGot(c.Status.AllocatedResources[name], allocated.Key(string(name)))
		}
		errs = append(errs, resourceErrs...)
	}
	return errs
}

// resizeStates are in the order of messages.
var resizeStates = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizePending,
}

func validateAmountGot(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Value() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.Value(), "must be a valid resource quantity")}
}

// validateClaimResource rejects native resources other than storage.
func validateClaimResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if messages := utilvalidation.IsQualifiedName(string(name)); len(messages) > 0 {
		return kind.Invalid(at, string(name), messages)
	}
	if podspec.IsNative(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(at, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}
