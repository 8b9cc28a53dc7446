package apps

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// count is a number of pods in a status, with its field.
type count struct {
	name string
	n    int32
}

// validateCounts rejects negative numbers.
func validateCounts(at *field.Path, observed int64, counts ...count) field.ErrorList {
	errs := kind.NonNegative(at.Child("observedGeneration"), &observed)
	for _, c := range counts {
		errs = append(errs, kind.NonNegative(at.Child(c.name), &c.n)...)
	}
	return errs
}

// validateParts rejects numbers that are greater than the number of all replicas.
func validateParts(at *field.Path, replicas int32, parts ...count) field.ErrorList {
	var errs field.ErrorList
	for _, part := range parts {
		if part.n > replicas {
			errs = append(errs, field.Invalid(at.Child(part.name), part.n, "cannot be greater than status.replicas"))
		}
	}
	return errs
}

// validateAvailable rejects more available replicas than ready ones.
func validateAvailable(at *field.Path, available, ready int32, message string) field.ErrorList {
	if available <= ready {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("availableReplicas"), available, message)}
}

// validateCollisions rejects a decrease of the collision count.
func validateCollisions(at *field.Path, now, was *int32) field.ErrorList {
	errs := kind.NonNegative(at, now)
	if was != nil && number(now) < int64(*was) {
		errs = append(errs, field.Invalid(at, int32(number(now)), "cannot be decremented"))
	}
	return errs
}

// validateReplicaPods validates the pod template of a Deployment or a ReplicaSet.
func validateReplicaPods(s *metav1.LabelSelector, t *corev1.PodTemplateSpec, features *feature.Set, spec *field.Path) field.ErrorList {
	at, template := spec.Child("selector"), spec.Child("template")
	selector, errs, ok := podspec.ValidateSelector(s, "deployment", at)
	if !ok {
		return append(errs, field.Invalid(at, s, "invalid label selector"))
	}
	return slices.Concat(errs,
		podspec.ValidateSelected(selector, t, template),
		podspec.ValidateTemplate(t, features, template),
		podspec.ValidateRunsForever(t, "ReplicaSet", template),
	)
}

// isZero reports whether a number or percentage is 0. Texts that are neither are 0.
func isZero(n *intstr.IntOrString) bool {
	if n == nil {
		return false
	}
	if n.Type == intstr.String && len(utilvalidation.IsValidPercent(n.StrVal)) > 0 {
		return n.IntValue() == 0 // as in kube-apiserver, "1" is invalid but not 0
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(n, 100, true)
	return err != nil || value == 0
}

func immutableSelector(s, old *metav1.LabelSelector) field.ErrorList {
	return kind.Immutable(field.NewPath("spec", "selector"), s, old)
}
