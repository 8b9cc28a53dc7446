package storage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

const (
	mostHealthConditions = 16
	longestHealthReason  = 256
	longestHealthMessage = 1024
)

// validateNodeStatus requires one report for each driver.
func validateNodeStatus(node, _ *storagev1.CSINode) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, health := range node.Status.StorageHealth {
		at := field.NewPath("status", "storageHealth").Index(i)
		if seen.Has(health.Name) {
			errs = append(errs, field.Duplicate(at, health.Name))
		}
		seen.Insert(health.Name)
		errs = append(errs, validateHealth(health, at)...)
	}
	return errs
}

func validateHealth(health storagev1.StorageHealth, at *field.Path) field.ErrorList {
	errs := validateDriverName(health.Name, at.Child("name"))
	conditions := at.Child("healthConditions")
	if n := len(health.HealthConditions); n > mostHealthConditions {
		return append(errs, field.TooMany(conditions, n, mostHealthConditions))
	}
	for i, c := range health.HealthConditions {
		errs = append(errs, validateHealthCondition(c, conditions.Index(i))...)
	}
	return errs
}

func validateHealthCondition(c storagev1.StorageHealthCondition, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.Supported(at.Child("status"), c.Status, storagev1.StorageDegraded, storagev1.StorageUnreachable),
		kind.Formatted(at.Child("reason"), c.Reason, metavalidation.IsValidConditionReason),
		atMost(at.Child("reason"), c.Reason, longestHealthReason),
		atMost(at.Child("message"), c.Message, longestHealthMessage),
		kind.SupportedIfSet(at.Child("accessMode"), c.AccessMode, corev1.ReadOnlyMany, corev1.ReadWriteMany,
			corev1.ReadWriteOnce, corev1.ReadWriteOncePod),
		kind.SupportedIfSet(at.Child("volumeMode"), c.VolumeMode, corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock),
	)
}

// atMost limits the length of a text in bytes.
func atMost(at *field.Path, text string, most int) field.ErrorList {
	if len(text) <= most {
		return nil
	}
	return field.ErrorList{field.TooLong(at, text, most)}
}
