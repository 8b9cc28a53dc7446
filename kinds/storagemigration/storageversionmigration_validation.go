package storagemigration

import (
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func validateMigration(m *storagemigrationv1.StorageVersionMigration) field.ErrorList {
	var errs field.ErrorList
	at, target := field.NewPath("spec", "resource"), m.Spec.Resource
	if target.Resource == "" {
		errs = append(errs, field.Required(at.Child("resource"), "resource is required to be set"))
	} else {
		errs = append(errs, joined(at.Child("resource"), target.Resource, utilvalidation.IsDNS1035Label)...)
	}
	if target.Group != "" {
		errs = append(errs, joined(at.Child("group"), target.Group, utilvalidation.IsDNS1123Subdomain)...)
	}
	return errs
}

// joined returns one error with all messages.
func joined(at *field.Path, value string, form func(string) []string) field.ErrorList {
	if messages := form(value); len(messages) > 0 {
		return field.ErrorList{field.Invalid(at, value, strings.Join(messages, ","))}
	}
	return nil
}

func validateMigrationUpdate(m, old *storagemigrationv1.StorageVersionMigration) field.ErrorList {
	return append(validateMigration(m), kind.Immutable(field.NewPath("spec"), m.Spec, old.Spec)...)
}

// validateMigrationStatus rejects changes of the resourceVersion once it is set, and of the final
// conditions once one of them is true.
func validateMigrationStatus(m, old *storagemigrationv1.StorageVersionMigration) field.ErrorList {
	status := field.NewPath("status")
	revision, conditions := status.Child("resourceVersion"), status.Child("conditions")
	var errs field.ErrorList
	if rv := m.Status.ResourceVersion; rv != "" {
		if _, err := resourceversion.CompareResourceVersion(rv, rv); err != nil {
			errs = append(errs, field.Invalid(revision, rv, err.Error()))
		}
	}
	errs = append(errs, metavalidation.ValidateConditions(m.Status.Conditions, conditions)...)
	if old.Status.ResourceVersion != "" && old.Status.ResourceVersion != m.Status.ResourceVersion {
		errs = append(errs, field.Invalid(revision, m.Status.ResourceVersion, "field is immutable"))
	}
	reject := func(message string) { errs = append(errs, field.Invalid(conditions, m.Status.Conditions, message)) }
	succeeded, failed := storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed
	if isTrue(m, succeeded) && isTrue(m, failed) {
		reject("Both success and failed conditions cannot be true at the same time")
	}
	if isTrue(old, succeeded) && !isTrue(m, succeeded) {
		reject("Success condition cannot be set to false once it is true")
	}
	if isTrue(old, failed) && !isTrue(m, failed) {
		reject("Failed condition cannot be set to false once it is true")
	}
	return errs
}

func isTrue(m *storagemigrationv1.StorageVersionMigration, name storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(name))
}
