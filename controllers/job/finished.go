package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Finished returns the condition Complete or Failed of a Job that has finished, nil otherwise.
func Finished(j *batchv1.Job) *batchv1.JobCondition {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := trueCondition(j, kind); c != nil {
			return c
		}
	}
	return nil
}

// trueCondition returns a condition whose status is True, nil if there is none.
func trueCondition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	if c := findCondition(j, kind); c != nil && c.Status == corev1.ConditionTrue {
		return c
	}
	return nil
}

func findCondition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}
