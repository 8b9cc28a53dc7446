package storage

import (
	"math"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

const (
	longestMetadata = 256 << 10 // of all keys and values
	longestError    = 1 << 10
)

func validateAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	spec, status := field.NewPath("spec"), field.NewPath("status")
	errs := slices.Concat(
		kind.ByTag(kind.DriverName(spec.Child("attacher"), a.Spec.Attacher)),
		validateSource(&a.Spec.Source, spec.Child("source")),
		kind.Invalid(spec.Child("nodeName"), a.Spec.NodeName, utilvalidation.IsDNS1123Subdomain(a.Spec.NodeName)),
		validateMetadata(a.Status.AttachmentMetadata, status.Child("attachmentMetadata")),
		validateVolumeError(a.Status.AttachError, status.Child("attachError")),
		validateVolumeError(a.Status.DetachError, status.Child("detachError")),
	)
	if name := a.Spec.Source.PersistentVolumeName; name != nil {
		errs = append(errs, kind.Invalid(spec.Child("source", "persistentVolumeName"), *name, utilvalidation.IsDNS1123Subdomain(*name))...)
	}
	if volume := a.Spec.Source.InlineVolumeSpec; volume != nil && a.Spec.Source.PersistentVolumeName == nil {
		errs = append(errs, podspec.ValidateInlineVolume(volume, a.Name, spec.Child("source", "inlineVolumeSpec"))...)
	}
	return errs
}

func validateSource(s *storagev1.VolumeAttachmentSource, at *field.Path) field.ErrorList {
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case s.InlineVolumeSpec == nil && s.PersistentVolumeName == nil:
		return field.ErrorList{field.Required(at, one)}
	case s.InlineVolumeSpec != nil && s.PersistentVolumeName != nil:
		return field.ErrorList{field.Forbidden(at, one)}
	case s.PersistentVolumeName != nil && *s.PersistentVolumeName == "":
		return field.ErrorList{field.Required(at.Child("persistentVolumeName"), "must specify non empty persistentVolumeName")}
	}
	return nil
}

func validateMetadata(metadata map[string]string, at *field.Path) field.ErrorList {
	size := 0
	for key, value := range metadata {
		size += len(key) + len(value)
	}
	if size <= longestMetadata {
		return nil
	}
	return field.ErrorList{field.TooLong(at, "", longestMetadata)}
}

func validateVolumeError(e *storagev1.VolumeError, at *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	if len(e.Message) > longestError {
		errs = append(errs, field.TooLong(at.Child("message"), "", longestError))
	}
	if e.ErrorCode != nil && *e.ErrorCode < 0 {
		errs = append(errs, field.Invalid(at.Child("errorCode"), *e.ErrorCode, utilvalidation.InclusiveRangeError(0, math.MaxInt32)))
	}
	return errs
}

func attachmentUpdateValidation(features *feature.Set) func(a, old *storagev1.VolumeAttachment) field.ErrorList {
	return func(a, old *storagev1.VolumeAttachment) field.ErrorList {
		return append(validateAttachment(a), kind.ImmutableByTag(features, field.NewPath("spec"), a.Spec, old.Spec)...)
	}
}

// attachmentStatusValidation returns the validation of writes of the status. As in kube-apiserver,
// it is the validation of updates, with the generateName.
func attachmentStatusValidation(features *feature.Set) func(a, old *storagev1.VolumeAttachment) field.ErrorList {
	update := attachmentUpdateValidation(features)
	return func(a, old *storagev1.VolumeAttachment) field.ErrorList {
		return append(kind.ValidateGenerateName(a, validation.NameIsDNSSubdomain), update(a, old)...)
	}
}
