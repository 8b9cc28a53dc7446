package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	return podspec.ValidateVolumeSpec(&v.Spec, v.Name, field.NewPath("spec"))
}

// validateVolumeUpdate rejects changes of the source, but accepts a new secret that a driver needs
// to expand the volume. It reports the errors of finalizers and of the spec twice, as
// kube-apiserver does.
func validateVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := append(validateVolume(v), kind.ValidateFinalizers(v)...)
	errs = append(errs, validateVolume(v)...)
	now, was := v.Spec.PersistentVolumeSource, old.Spec.PersistentVolumeSource
	if now.CSI != nil && was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil {
		now.CSI = now.CSI.DeepCopy()
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+kind.GoDiff(was, now)))
	}
	errs = append(errs, validation.ValidateImmutableField(v.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if was := old.Spec.NodeAffinity; was != nil && !equality.Semantic.DeepEqual(v.Spec.NodeAffinity, newerLabels(was, v.Spec.NodeAffinity)) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), kind.GoJSON(v.Spec.NodeAffinity),
			validation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// newLabels maps beta labels of nodes to their stable names.
var newLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
}

// newerLabels returns old with stable names in place of beta names wherever now has them.
func newerLabels(old, now *corev1.VolumeNodeAffinity) *corev1.VolumeNodeAffinity {
	if old.Required == nil || now == nil || now.Required == nil || len(old.Required.NodeSelectorTerms) != len(now.Required.NodeSelectorTerms) {
		return old
	}
	result := old.DeepCopy()
	for i := range result.Required.NodeSelectorTerms {
		was, is := result.Required.NodeSelectorTerms[i].MatchExpressions, now.Required.NodeSelectorTerms[i].MatchExpressions
		for j := range min(len(was), len(is)) {
			if newLabels[was[j].Key] == is[j].Key {
				was[j].Key = is[j].Key
			}
		}
	}
	return result
}
