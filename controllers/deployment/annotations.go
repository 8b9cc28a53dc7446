package deployment

import (
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	// historyAnnotation lists the former revisions of a ReplicaSet.
	historyAnnotation = "deployment.kubernetes.io/revision-history"
	// desiredAnnotation is the number of replicas of the Deployment, and maxAnnotation the number
	// with maxSurge, when a ReplicaSet got its size. Other numbers mean that the Deployment was
	// scaled.
	desiredAnnotation = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation     = "deployment.kubernetes.io/max-replicas"
)

// maxHistoryLength is the maximum length of the value of historyAnnotation.
const maxHistoryLength = 2000

// isOwnAnnotation reports whether an annotation is not copied from a Deployment to its ReplicaSets.
func isOwnAnnotation(name string) bool {
	switch name {
	case corev1.LastAppliedConfigAnnotation, revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation,
		appsv1.DeprecatedRollbackTo:
		return true
	}
	return false
}

// revision returns the revision of a ReplicaSet, 0 if it has none.
func revision(set *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func maxRevision(sets []*appsv1.ReplicaSet) int64 {
	var greatest int64
	for _, set := range sets {
		greatest = max(greatest, revision(set))
	}
	return greatest
}

// setAnnotations copies the annotations of a Deployment to its latest ReplicaSet, and sets the
// revision if it is greater than the present one.
func setAnnotations(set *appsv1.ReplicaSet, d *appsv1.Deployment, next int64) {
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	for name, value := range d.Annotations {
		if !isOwnAnnotation(name) {
			set.Annotations[name] = value
		}
	}
	former := set.Annotations[revisionAnnotation]
	if _, err := strconv.ParseInt(former, 10, 64); former != "" && err != nil || revision(set) >= next {
		return
	}
	set.Annotations[revisionAnnotation] = strconv.FormatInt(next, 10)
	if former != "" {
		addHistory(set, former)
	}
}

// addHistory records a former revision of a ReplicaSet, and removes the oldest ones.
func addHistory(set *appsv1.ReplicaSet, former string) {
	var history []string
	if list := set.Annotations[historyAnnotation]; list != "" {
		history = strings.Split(list, ",")
	}
	history = append(history, former)
	for len(strings.Join(history, ",")) > maxHistoryLength {
		history = slices.Delete(history, 0, 1)
	}
	set.Annotations[historyAnnotation] = strings.Join(history, ",")
}

// setSizeAnnotations records the size of a Deployment.
func setSizeAnnotations(set *appsv1.ReplicaSet, d *appsv1.Deployment) {
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[desiredAnnotation] = strconv.Itoa(int(*d.Spec.Replicas))
	set.Annotations[maxAnnotation] = strconv.Itoa(int(*d.Spec.Replicas + maxSurge(d)))
}

// recordedSize returns the number of an annotation that setSizeAnnotations sets. It returns false
// if the annotation is absent or invalid.
func recordedSize(set *appsv1.ReplicaSet, annotation string) (int32, bool) {
	n, err := strconv.ParseUint(set.Annotations[annotation], 10, 32)
	return int32(n), err == nil && n <= math.MaxInt32
}
