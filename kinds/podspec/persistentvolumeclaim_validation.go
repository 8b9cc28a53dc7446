package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// ValidateClaimSpec validates the spec of a claim, or of a template of one.
func ValidateClaimSpec(spec *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, metavalidation.ValidateLabelSelector(spec.Selector, metavalidation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	errs = append(errs, ValidateAccessModes(spec.AccessModes, at.Child("accessModes"))...)
	size, ok := spec.Resources.Requests[corev1.ResourceStorage]
	storage := at.Child("resources").Key("storage")
	switch {
	case !ok:
		errs = append(errs, field.Required(storage, ""))
	case size.Sign() <= 0:
		errs = append(errs, field.Invalid(storage, size.String(), notPositive))
	}
	if name := spec.StorageClassName; name != nil {
		errs = append(errs, subdomain(*name, at.Child("storageClassName"))...)
	}
	errs = append(errs, ValidateVolumeMode(spec.VolumeMode, at.Child("volumeMode"))...)
	errs = append(errs, validateDataSources(spec, at)...)
	if name := spec.VolumeAttributesClassName; name != nil {
		errs = append(errs, subdomain(*name, at.Child("volumeAttributesClassName"))...)
	}
	return errs
}

// ValidateAccessModes rejects other modes beside ReadWriteOncePod.
func ValidateAccessModes(modes []corev1.PersistentVolumeAccessMode, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	alone, shared := false, false
	for _, mode := range modes {
		modeErrs := kind.Supported(at, mode, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
		errs = append(errs, modeErrs...)
		alone = alone || mode == corev1.ReadWriteOncePod
		shared = shared || mode != corev1.ReadWriteOncePod && len(modeErrs) == 0
	}
	if alone && shared {
		errs = append(errs, field.Forbidden(at, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// ValidateVolumeMode accepts nil.
func ValidateVolumeMode(mode *corev1.PersistentVolumeMode, at *field.Path) field.ErrorList {
	if mode == nil {
		return nil
	}
	return kind.Supported(at, *mode, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

// validateDataSources requires dataSource and dataSourceRef to be equal, unless dataSourceRef has a
// namespace.
func validateDataSources(spec *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	source, ref := spec.DataSource, spec.DataSourceRef
	if source != nil {
		errs = append(errs, validateDataSource(source.APIGroup, source.Kind, source.Name, at.Child("dataSource"))...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, validateDataSource(ref.APIGroup, ref.Kind, ref.Name, at.Child("dataSourceRef"))...)
	elsewhere := ref.Namespace != nil && *ref.Namespace != ""
	if elsewhere {
		errs = append(errs, kind.Invalid(at.Child("dataSourceRef", "namespace"), *ref.Namespace, validation.ValidateNamespaceName(*ref.Namespace, false))...)
	}
	shown := struct{}{} // kube-apiserver shows the JSON of the path, which is {}
	switch {
	case source == nil:
	case elsewhere:
		errs = append(errs, field.Invalid(at, shown, "may not be specified when dataSourceRef.namespace is specified"))
	case !equality.Semantic.DeepEqual(source.APIGroup, ref.APIGroup) || source.Kind != ref.Kind || source.Name != ref.Name:
		errs = append(errs, field.Invalid(at, shown, "must match dataSourceRef"))
	}
	return errs
}

func validateDataSource(group *string, kindName, name string, at *field.Path) field.ErrorList {
	errs := kind.Required(at.Child("name"), name)
	errs = append(errs, kind.Required(at.Child("kind"), kindName)...)
	switch {
	case group != nil && *group != "":
		errs = append(errs, kind.Invalid(at.Child("apiGroup"), *group, utilvalidation.IsDNS1123Subdomain(*group))...)
	case kindName != "PersistentVolumeClaim":
		errs = append(errs, field.Invalid(at, kindName, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	return errs
}

// validateClaimMeta allows labels and annotations in a template only.
func validateClaimMeta(m *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	errs := validation.ValidateAnnotations(m.Annotations, at.Child("annotations"))
	errs = append(errs, metavalidation.ValidateLabels(m.Labels, at.Child("labels"))...)
	f := forbidding{message: "cannot be set"}
	f.forbid(m.Name != "", at, "name")
	f.forbid(m.GenerateName != "", at, "generateName")
	f.forbid(m.Namespace != "", at, "namespace")
	f.forbid(m.SelfLink != "", at, "selfLink")
	f.forbid(m.UID != "", at, "uID") // the spelling of kube-apiserver
	f.forbid(m.ResourceVersion != "", at, "resourceVersion")
	f.forbid(m.Generation != 0, at, "generation")
	f.forbid(!m.CreationTimestamp.IsZero(), at, "creationTimestamp")
	f.forbid(m.DeletionTimestamp != nil, at, "deletionTimestamp")
	f.forbid(m.DeletionGracePeriodSeconds != nil, at, "deletionGracePeriodSeconds")
	f.forbid(m.OwnerReferences != nil, at, "ownerReferences")
	f.forbid(m.Finalizers != nil, at, "finalizers")
	f.forbid(m.ManagedFields != nil, at, "managedFields")
	return append(errs, f.errs...)
}
