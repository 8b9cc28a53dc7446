package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

// validateJobStatus validates the status that controllers other than kube-controller-manager's
// write, by the guarantees that clients of jobs rely on. Unchanged values are not validated again:
// a change of the spec may have made them invalid.
func validateJobStatus(j, old *batchv1.Job) field.ErrorList {
	at := field.NewPath("status")
	return slices.Concat(
		validateCounts(&j.Status, at),
		validateUncounted(j.Status.UncountedTerminatedPods, at.Child("uncountedTerminatedPods")),
		validateTerminalConditions(j, old, at.Child("conditions")),
		validateTimes(j, old, at.Child("completionTime")),
		validateReasons(j, old, at.Child("conditions")),
		validateFinished(j, old, at),
		validateIndexLists(j, old, at),
		validateRemaining(j, old, at),
		validateCriteria(j, at.Child("conditions")),
		validateTransition(j, old, at),
	)
}

func hasCondition(j *batchv1.Job, condition batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == condition && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func isFinished(j *batchv1.Job) bool {
	return hasCondition(j, batchv1.JobComplete) || hasCondition(j, batchv1.JobFailed)
}

func validateCounts(s *batchv1.JobStatus, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.NonNegative(at.Child("active"), &s.Active),
		kind.NonNegative(at.Child("succeeded"), &s.Succeeded),
		kind.NonNegative(at.Child("failed"), &s.Failed),
		kind.NonNegative(at.Child("ready"), s.Ready),
		kind.NonNegative(at.Child("terminating"), s.Terminating),
	)
}

func validateUncounted(pods *batchv1.UncountedTerminatedPods, at *field.Path) field.ErrorList {
	if pods == nil {
		return nil
	}
	var errs field.ErrorList
	seen := sets.New[types.UID]()
	check := func(at *field.Path, uids []types.UID) {
		for i, uid := range uids {
			switch {
			case uid == "":
				errs = append(errs, field.Invalid(at.Index(i), uid, "must not be empty"))
			case seen.Has(uid):
				errs = append(errs, field.Duplicate(at.Index(i), uid))
			}
			seen.Insert(uid)
		}
	}
	check(at.Child("succeeded"), pods.Succeeded)
	check(at.Child("failed"), pods.Failed)
	return errs
}

// condition returns an error about the conditions.
func condition(wrong bool, at *field.Path, message string) field.ErrorList {
	if !wrong {
		return nil
	}
	return field.ErrorList{field.Invalid(at, field.OmitValueType{}, message)}
}

// changesCondition reports whether a write adds or removes a condition.
func changesCondition(j, old *batchv1.Job, c batchv1.JobConditionType) bool {
	return hasCondition(j, c) != hasCondition(old, c)
}

// validateTerminalConditions rejects more than one terminal condition.
func validateTerminalConditions(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	complete, ended := hasCondition(j, batchv1.JobComplete), changesCondition(j, old, batchv1.JobComplete)
	return slices.Concat(
		condition(complete && hasCondition(j, batchv1.JobFailed) && (ended || changesCondition(j, old, batchv1.JobFailed)),
			at, "cannot set Complete=True and Failed=true conditions"),
		condition(complete && hasCondition(j, batchv1.JobFailureTarget) && (ended || changesCondition(j, old, batchv1.JobFailureTarget)),
			at, "cannot set Complete=True and FailureTarget=true conditions"),
	)
}

// validateReasons requires the conditions that announce the end of a job before its terminal
// condition.
func validateReasons(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	return slices.Concat(
		condition(hasCondition(j, batchv1.JobFailed) && !hasCondition(j, batchv1.JobFailureTarget) && changesCondition(j, old, batchv1.JobFailed),
			at, "cannot set Failed=True condition without the FailureTarget=true condition"),
		condition(hasCondition(j, batchv1.JobComplete) && !hasCondition(j, batchv1.JobSuccessCriteriaMet) && changesCondition(j, old, batchv1.JobComplete),
			at, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
	)
}

func validateCriteria(j *batchv1.Job, at *field.Path) field.ErrorList {
	met := hasCondition(j, batchv1.JobSuccessCriteriaMet)
	return slices.Concat(
		condition(met && hasCondition(j, batchv1.JobFailed), at, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
		condition(met && hasCondition(j, batchv1.JobFailureTarget), at, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
		condition(j.Spec.SuccessPolicy != nil && hasCondition(j, batchv1.JobComplete) && !met,
			at, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"),
	)
}

func validateTimes(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	start, end := j.Status.StartTime, j.Status.CompletionTime
	restarted, reended := !start.Equal(old.Status.StartTime), !end.Equal(old.Status.CompletionTime)
	if complete := hasCondition(j, batchv1.JobComplete); reended || changesCondition(j, old, batchv1.JobComplete) {
		switch {
		case end != nil && !complete:
			errs = append(errs, field.Invalid(at, end, "cannot set completionTime when there is no Complete=True condition"))
		case end == nil && complete:
			errs = append(errs, field.Required(at, "completionTime is required for Complete jobs"))
		}
	}
	if (restarted || reended) && start != nil && end != nil && end.Before(start) {
		errs = append(errs, field.Invalid(at, end, "must be equal to or after `startTime`"))
	}
	return errs
}

// validateFinished rejects running pods in a finished job.
func validateFinished(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	if !isFinished(j) {
		return nil
	}
	var errs field.ErrorList
	now := !isFinished(old)
	s, was := &j.Status, &old.Status
	if s.Active > 0 && (now || s.Active != was.Active) {
		errs = append(errs, field.Invalid(at.Child("active"), s.Active, "active>0 is invalid for finished job"))
	}
	if s.StartTime == nil && (now || was.StartTime != nil) {
		errs = append(errs, field.Required(at.Child("startTime"), "startTime is required for finished job"))
	}
	if pods := s.UncountedTerminatedPods; pods != nil && len(pods.Failed)+len(pods.Succeeded) > 0 &&
		(now || !equality.Semantic.DeepEqual(pods, was.UncountedTerminatedPods)) {
		errs = append(errs, field.Invalid(at.Child("uncountedTerminatedPods"), kind.GoJSON(pods), "must be empty for finished job"))
	}
	return errs
}

// validateRemaining validates the numbers of active, ready and terminating pods.
func validateRemaining(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	s, was := &j.Status, &old.Status
	if isFinished(j) && s.Terminating != nil && *s.Terminating > 0 &&
		(!isFinished(old) || !equality.Semantic.DeepEqual(s.Terminating, was.Terminating)) {
		errs = append(errs, field.Invalid(at.Child("terminating"), s.Terminating, "terminating>0 is invalid for finished job"))
	}
	if s.Ready != nil && *s.Ready > s.Active && !equality.Semantic.DeepEqual(s.Ready, was.Ready) {
		errs = append(errs, field.Invalid(at.Child("ready"), *s.Ready, "cannot set more ready pods than active"))
	}
	return errs
}

func validateIndexLists(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	done, failed := j.Status.CompletedIndexes, j.Status.FailedIndexes
	doneMoved, failedMoved := done != old.Status.CompletedIndexes, !equality.Semantic.DeepEqual(failed, old.Status.FailedIndexes)
	var doneIndexes, failedIndexes indexes
	if n := j.Spec.Completions; n != nil {
		var err error
		if doneIndexes, err = parseIndexes(done, *n); err != nil && doneMoved {
			errs = append(errs, field.Invalid(at.Child("completedIndexes"), done, "error parsing completedIndexes: "+err.Error()))
		}
		if failed != nil {
			failedIndexes, err = parseIndexes(*failed, *n)
		}
		if err != nil && failed != nil && failedMoved && j.Spec.BackoffLimitPerIndex != nil {
			errs = append(errs, field.Invalid(at.Child("failedIndexes"), failed, "error parsing failedIndexes: "+err.Error()))
		}
	}
	if done != "" && !isIndexed(&j.Spec) && doneMoved {
		errs = append(errs, field.Invalid(at.Child("completedIndexes"), done, "cannot set non-empty completedIndexes when non-indexed completion mode"))
	}
	if failed != nil && j.Spec.BackoffLimitPerIndex == nil && failedMoved {
		errs = append(errs, field.Invalid(at.Child("failedIndexes"), *failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"))
	}
	if index, ok := doneIndexes.overlap(failedIndexes); ok && (doneMoved || failedMoved) {
		errs = append(errs, field.Invalid(at.Child("failedIndexes"), *failed,
			fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index)))
	}
	return errs
}

// validateTransition rejects the removal of final values.
func validateTransition(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, c := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if hasCondition(old, c) && !hasCondition(j, c) {
			errs = append(errs, field.Invalid(at.Child("conditions"), field.OmitValueType{},
				fmt.Sprintf("cannot disable the terminal %s=True condition", c)))
		}
	}
	if j.Status.Failed < old.Status.Failed {
		errs = append(errs, field.Invalid(at.Child("failed"), j.Status.Failed, "cannot decrease the failed counter"))
	}
	// An indexed job that is scaled down may lose succeeded pods.
	elastic := isIndexed(&j.Spec) && equality.Semantic.DeepEqual(j.Spec.Completions, j.Spec.Parallelism)
	if !elastic && j.Status.Succeeded < old.Status.Succeeded {
		errs = append(errs, field.Invalid(at.Child("succeeded"), j.Status.Succeeded, "cannot decrease the succeeded counter"))
	}
	now, was := j.Status.CompletionTime, old.Status.CompletionTime
	if now != nil && was != nil && !now.Equal(was) {
		errs = append(errs, field.Invalid(at.Child("completionTime"), now, "field is immutable"))
	}
	suspended := j.Spec.Suspend != nil && *j.Spec.Suspend
	if start := old.Status.StartTime; start != nil && !start.Equal(j.Status.StartTime) && !suspended {
		errs = append(errs, field.Required(at.Child("startTime"), "startTime cannot be removed for unsuspended job"))
	}
	met := batchv1.JobSuccessCriteriaMet
	if hasCondition(old, met) && !hasCondition(j, met) {
		errs = append(errs, field.Invalid(at.Child("conditions"), field.OmitValueType{}, "cannot disable the SuccessCriteriaMet=True condition"))
	}
	if hasCondition(old, batchv1.JobComplete) && !hasCondition(old, met) && hasCondition(j, met) {
		errs = append(errs, field.Invalid(at.Child("conditions"), field.OmitValueType{},
			"cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
	}
	return errs
}
