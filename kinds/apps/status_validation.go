package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// count is a number of pods in a status.
type count struct {
	name string
	n    int32
}

// validateCounts wants no number to be negative.
func validateCounts(at *field.Path, observed int64, counts ...count) field.ErrorList {
	errs := kind.NonNegative(at.Child("observedGeneration"), &observed)
	for _, c := range counts {
		errs = append(errs, kind.NonNegative(at.Child(c.name), &c.n)...)
	}
	return errs
}

// validateParts wants none of the numbers to be above that of all replicas.
func validateParts(at *field.Path, replicas int32, parts ...count) field.ErrorList {
	var errs field.ErrorList
	for _, part := range parts {
		if part.n > replicas {
			errs = append(errs, field.Invalid(at.Child(part.name), part.n, "cannot be greater than status.replicas"))
		}
	}
	return errs
}

// validateAvailable wants a pod to be ready before it counts as available.
func validateAvailable(at *field.Path, available, ready int32, message string) field.ErrorList {
	if available <= ready {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("availableReplicas"), available, message)}
}

// validateCollisions lets the count which names of revisions are made by only
// rise.
func validateCollisions(at *field.Path, now, was *int32) field.ErrorList {
	errs := kind.NonNegative(at, now)
	if was != nil && number(now) < int64(*was) {
		errs = append(errs, field.Invalid(at, int32(number(now)), "cannot be decremented"))
	}
	return errs
}

func validateDeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	at, s := field.NewPath("status"), &d.Status
	updated, ready := count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas}
	available := count{"availableReplicas", s.AvailableReplicas}
	return slices.Concat(
		validateCounts(at, s.ObservedGeneration, count{"replicas", s.Replicas}, updated, ready, available,
			count{"unavailableReplicas", s.UnavailableReplicas}),
		kind.NonNegative(at.Child("terminatingReplicas"), s.TerminatingReplicas),
		validateParts(at, s.Replicas, updated, ready, available),
		validateAvailable(at, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas"),
		validateCollisions(at.Child("collisionCount"), s.CollisionCount, old.Status.CollisionCount),
	)
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

func validateStatefulSetStatus(s, old *appsv1.StatefulSet) field.ErrorList {
	at, status := field.NewPath("status"), &s.Status
	ready, current := count{"readyReplicas", status.ReadyReplicas}, count{"currentReplicas", status.CurrentReplicas}
	updated, available := count{"updatedReplicas", status.UpdatedReplicas}, count{"availableReplicas", status.AvailableReplicas}
	return slices.Concat(
		validateCounts(at, status.ObservedGeneration, count{"replicas", status.Replicas}, ready, current, updated, available),
		validateParts(at, status.Replicas, ready, current, updated, available),
		validateAvailable(at, status.AvailableReplicas, status.ReadyReplicas, "cannot be greater than status.readyReplicas"),
		validateCollisions(at.Child("collisionCount"), status.CollisionCount, old.Status.CollisionCount),
	)
}

func validateDaemonSetStatus(d, old *appsv1.DaemonSet) field.ErrorList {
	at, s := field.NewPath("status"), &d.Status
	return slices.Concat(
		validateCounts(at, s.ObservedGeneration,
			count{"currentNumberScheduled", s.CurrentNumberScheduled},
			count{"numberMisscheduled", s.NumberMisscheduled},
			count{"desiredNumberScheduled", s.DesiredNumberScheduled},
			count{"numberReady", s.NumberReady},
			count{"updatedNumberScheduled", s.UpdatedNumberScheduled},
			count{"numberAvailable", s.NumberAvailable},
			count{"numberUnavailable", s.NumberUnavailable}),
		validateCollisions(at.Child("collisionCount"), s.CollisionCount, old.Status.CollisionCount),
	)
}
