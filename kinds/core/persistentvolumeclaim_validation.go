package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateClaim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	return append(kind.Finalizers(c), podspec.ValidateClaimSpec(&c.Spec, field.NewPath("spec"))...)
}

// validateClaimUpdate keeps what storage is found and counted by. A claim that
// is bound may still ask for more, and for another class of attributes. It tells
// the faults of the spec twice, for kube-apiserver does.
func validateClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := append(validateClaim(c), validateClaim(c)...)
	spec := field.NewPath("spec")
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	if now.DataSourceRef == nil {
		now.DataSourceRef = was.DataSourceRef // it follows from DataSource
	}
	if now.DataSource == nil {
		now.DataSource = was.DataSource
	}
	errs = append(errs, validateClassUpdate(c, old)...)
	if takesClass(c, old) {
		now.StorageClassName = nil
	}
	if c.Status.Phase == corev1.ClaimBound {
		keepStorage(now.Resources.Requests, was.Resources.Requests)
		if now.VolumeAttributesClassName != nil {
			now.VolumeAttributesClassName = was.VolumeAttributesClassName
		}
	}
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(spec,
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+kind.GoDiff(*was, *now)))
	}
	errs = append(errs, validateShrinking(c, old, spec)...)
	errs = append(errs, validation.ValidateImmutableField(c.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	return append(errs, validateKeptAttributes(c.Spec.VolumeAttributesClassName, old.Spec.VolumeAttributesClassName, spec)...)
}

// takesClass tells whether a claim that had no class, or one in the annotation
// of old clients, has got the class that it had to get.
func takesClass(c, old *corev1.PersistentVolumeClaim) bool {
	if old.Spec.StorageClassName != nil || c.Spec.StorageClassName == nil {
		return false
	}
	class, ok := old.Annotations[corev1.BetaStorageClassAnnotation]
	return !ok || *c.Spec.StorageClassName == class
}

// validateClassUpdate lets the annotation go once the field says the same.
func validateClassUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	now, ok := c.Annotations[corev1.BetaStorageClassAnnotation]
	was, had := old.Annotations[corev1.BetaStorageClassAnnotation]
	if now == was || had && !ok && takesClass(c, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations", corev1.BetaStorageClassAnnotation), now, validation.FieldImmutableErrorMsg)}
}

// validateShrinking lets a claim ask for less than it did, but not for less
// than it has got.
func validateShrinking(c, old *corev1.PersistentVolumeClaim, spec *field.Path) field.ErrorList {
	now, was := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	got := old.Status.Capacity[corev1.ResourceStorage]
	if now.Cmp(was) >= 0 || now.Cmp(got) > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity")}
}

func validateKeptAttributes(now, was *string, spec *field.Path) field.ErrorList {
	at := spec.Child("volumeAttributesClassName")
	switch {
	case was == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(at, "update from non-nil value to nil is forbidden")}
	case *now == "" && *was != "":
		return field.ErrorList{field.Forbidden(at, "update from non-nil value to an empty string is forbidden")}
	}
	return nil
}

func keepStorage(requests, old map[corev1.ResourceName]resource.Quantity) {
	if requests != nil {
		requests[corev1.ResourceStorage] = old[corev1.ResourceStorage]
	}
}

// validateClaimStatus looks at what a claim has got, and at what it is about to
// get.
func validateClaimStatus(c, _ *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	status := field.NewPath("status")
	for name, quantity := range c.Status.Capacity {
		errs = append(errs, validateAmountGot(quantity, status.Child("capacity").Key(string(name)))...)
	}
	resizing := status.Child("allocatedResourceStatus")
	for name, state := range c.Status.AllocatedResourceStatuses {
		errs = append(errs, validateClaimResource(name, resizing)...)
		if len(kind.Supported(resizing, state, resizeStates...)) > 0 {
			errs = append(errs, field.NotSupported(resizing, name, resizeStates))
		}
	}
	allocated := status.Child("allocatedResources")
	for name, quantity := range c.Status.AllocatedResources {
		errs = append(errs, validateClaimResource(name, allocated)...)
		errs = append(errs, validateAmountGot(quantity, allocated.Key(string(name)))...)
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

// validateClaimResource: of what Kubernetes knows a claim is for storage.
func validateClaimResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if messages := utilvalidation.IsQualifiedName(string(name)); len(messages) > 0 {
		return kind.Invalid(at, string(name), messages)
	}
	if podspec.IsNative(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(at, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}
