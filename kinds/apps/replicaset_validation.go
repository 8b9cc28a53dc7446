package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

func validateReplicaSet(r *appsv1.ReplicaSet, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		kind.NonNegative(spec.Child("replicas"), r.Spec.Replicas),
		kind.NonNegative(spec.Child("minReadySeconds"), &r.Spec.MinReadySeconds),
		validateReplicaPods(r.Spec.Selector, &r.Spec.Template, features, spec),
	)
}

func validateReplicaSetUpdate(r, old *appsv1.ReplicaSet, features *feature.Set) field.ErrorList {
	return append(validateReplicaSet(r, features), immutableSelector(r.Spec.Selector, old.Spec.Selector)...)
}

func validateReplicaSetStatus(r, _ *appsv1.ReplicaSet) field.ErrorList {
	at, s := field.NewPath("status"), &r.Status
	labeled, ready := count{"fullyLabeledReplicas", s.FullyLabeledReplicas}, count{"readyReplicas", s.ReadyReplicas}
	available := count{"availableReplicas", s.AvailableReplicas}
	return slices.Concat(
		validateCounts(at, s.ObservedGeneration, count{"replicas", s.Replicas}, labeled, ready, available),
		kind.NonNegative(at.Child("terminatingReplicas"), s.TerminatingReplicas),
		validateParts(at, s.Replicas, labeled, ready, available),
		validateAvailable(at, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas"),
	)
}
