package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// The limits of a class's parameters.
const (
	mostParameters    = 512
	longestParameters = 256 << 10 // of all keys and values
)

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	return slices.Concat(
		kind.RequiredByTag(validateProvisioner(c.Provisioner, field.NewPath("provisioner"))),
		validateParameters(c.Parameters, field.NewPath("parameters")),
		validateReclaim(c.ReclaimPolicy, field.NewPath("reclaimPolicy")),
		kind.SupportedIfSet(field.NewPath("volumeBindingMode"), c.VolumeBindingMode,
			storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer),
		validateTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies")),
	)
}

// validateStorageClassUpdate rejects changes of the fields that volumes are created from.
func validateStorageClassUpdate(c, old *storagev1.StorageClass, features *feature.Set) field.ErrorList {
	return slices.Concat(
		validateStorageClass(c),
		kind.ImmutableByTag(features, field.NewPath("provisioner"), c.Provisioner, old.Provisioner),
		kind.ImmutableByTag(features, field.NewPath("parameters"), c.Parameters, old.Parameters),
		kind.ImmutableByTag(features, field.NewPath("reclaimPolicy"), c.ReclaimPolicy, old.ReclaimPolicy),
		kind.ImmutableByTag(features, field.NewPath("volumeBindingMode"), c.VolumeBindingMode, old.VolumeBindingMode),
	)
}

// validateReclaim accepts an empty policy.
func validateReclaim(policy *corev1.PersistentVolumeReclaimPolicy, at *field.Path) field.ErrorList {
	if policy == nil || *policy == "" {
		return nil
	}
	return kind.Supported(at, *policy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
}

func forbidChange(name string, now, was any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(name), "updates to "+name+" are forbidden.")}
}

func validateProvisioner(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	name = strings.ToLower(name)
	return kind.Invalid(at, name, utilvalidation.IsQualifiedName(name))
}

func validateParameters(parameters map[string]string, at *field.Path) field.ErrorList {
	if len(parameters) > mostParameters {
		return field.ErrorList{field.TooLong(at, "", mostParameters)}
	}
	var errs field.ErrorList
	size := 0
	for key, value := range parameters {
		if key == "" {
			errs = append(errs, field.Invalid(at, key, "field can not be empty."))
		}
		size += len(key) + len(value)
	}
	if size > longestParameters {
		errs = append(errs, field.TooLong(at, "", longestParameters))
	}
	return errs
}

// validateTopologies reports a term that selects everything as a duplicate of each term, as
// kube-apiserver does.
func validateTopologies(terms []corev1.TopologySelectorTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := make([]map[string]sets.Set[string], len(terms))
	for i, term := range terms {
		at := at.Index(i).Child("matchLabelExpressions")
		values, termErrs := validateTopology(term, at)
		errs = append(errs, termErrs...)
		for _, other := range seen {
			if equality.Semantic.DeepEqual(values, other) {
				errs = append(errs, field.Duplicate(at, ""))
			}
		}
		seen = append(seen, values)
	}
	return errs
}

func validateTopology(term corev1.TopologySelectorTerm, at *field.Path) (map[string]sets.Set[string], field.ErrorList) {
	var errs field.ErrorList
	byKey := map[string]sets.Set[string]{}
	for i, requirement := range term.MatchLabelExpressions {
		at, values := at.Index(i), sets.New[string]()
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), ""))
		}
		for j, value := range requirement.Values {
			if values.Has(value) {
				errs = append(errs, field.Duplicate(at.Child("values").Index(j), value))
			}
			values.Insert(value)
		}
		errs = append(errs, metavalidation.ValidateLabelName(requirement.Key, at.Child("key"))...)
		if _, ok := byKey[requirement.Key]; ok {
			errs = append(errs, field.Duplicate(at.Child("key"), requirement.Key))
		}
		byKey[requirement.Key] = values
	}
	return byKey, errs
}
