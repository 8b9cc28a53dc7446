package batch

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

func validateJob(j *batchv1.Job) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateJobSelector(&j.Spec, spec)
	errs = append(errs, validateJobSpec(&j.Spec, spec)...)
	if isIndexed(&j.Spec) && j.Spec.Completions != nil && *j.Spec.Completions > 0 {
		last := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
		if len(utilvalidation.IsDNS1123Label(last)) > 0 {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+last))
		}
	}
	return errs
}

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

// validateJobSelector does without the rule that a selector is not empty.
func validateJobSelector(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Selector == nil {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	} else {
		errs = metavalidation.ValidateLabelSelector(spec.Selector, metavalidation.LabelSelectorValidationOptions{}, at.Child("selector"))
	}
	if selector, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil {
		errs = append(errs, podspec.ValidateSelected(selector, &spec.Template, at.Child("template"))...)
	}
	return errs
}

// validateJobSpec holds for the jobs of cron jobs too.
func validateJobSpec(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	nonNegative := func(name string, n *int32) {
		if n != nil {
			errs = append(errs, validation.ValidateNonnegativeField(int64(*n), at.Child(name))...)
		}
	}
	nonNegative("parallelism", spec.Parallelism)
	nonNegative("completions", spec.Completions)
	if s := spec.ActiveDeadlineSeconds; s != nil {
		errs = append(errs, validation.ValidateNonnegativeField(*s, at.Child("activeDeadlineSeconds"))...)
	}
	nonNegative("backoffLimit", spec.BackoffLimit)
	nonNegative("ttlSecondsAfterFinished", spec.TTLSecondsAfterFinished)
	if mode := spec.CompletionMode; mode != nil && *mode != batchv1.NonIndexedCompletion && *mode != batchv1.IndexedCompletion {
		errs = append(errs, field.NotSupported(at.Child("completionMode"), *mode,
			[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
	}
	if isIndexed(spec) && spec.Completions == nil {
		errs = append(errs, field.Required(at.Child("completions"), "when completion mode is Indexed"))
	}
	errs = append(errs, podspec.ValidateTemplate(&spec.Template, at.Child("template"))...)
	if policy := spec.Template.Spec.RestartPolicy; policy == "" || policy == corev1.RestartPolicyAlways {
		errs = append(errs, field.Required(at.Child("template", "spec", "restartPolicy"), `valid values: "OnFailure", "Never"`))
	}
	return errs
}

// validateJobUpdate keeps what the pods of a job have been made by. It tells
// the faults of the spec twice, for kube-apiserver does.
func validateJobUpdate(j, old *batchv1.Job) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateJob(j)
	errs = append(errs, validateJobSelector(&j.Spec, spec)...)
	errs = append(errs, validateJobSpec(&j.Spec, spec)...)
	errs = append(errs, validation.ValidateImmutableField(j.Spec.Selector, old.Spec.Selector, spec.Child("selector"))...)
	errs = append(errs, validateCompletions(&j.Spec, &old.Spec, spec.Child("completions"))...)
	errs = append(errs, validateFixedTemplate(j, old, spec.Child("template"))...)
	errs = append(errs, validation.ValidateImmutableField(j.Spec.CompletionMode, old.Spec.CompletionMode, spec.Child("completionMode"))...)
	return append(errs, validation.ValidateImmutableField(j.Spec.BackoffLimitPerIndex, old.Spec.BackoffLimitPerIndex, spec.Child("backoffLimitPerIndex"))...)
}

// validateCompletions lets an indexed job grow, all of its pods at once.
func validateCompletions(spec, old *batchv1.JobSpec, at *field.Path) field.ErrorList {
	if !isIndexed(spec) {
		return validation.ValidateImmutableField(spec.Completions, old.Completions, at)
	}
	if equality.Semantic.DeepEqual(spec.Completions, old.Completions) || equality.Semantic.DeepEqual(spec.Completions, spec.Parallelism) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, spec.Completions, "can only be modified in tandem with spec.parallelism")}
}

// validateFixedTemplate lets where pods run, and what they get there, change
// while a job waits to be started.
func validateFixedTemplate(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	was := old.Spec.Template.DeepCopy()
	if old.Spec.Suspend != nil && *old.Spec.Suspend {
		now := j.Spec.Template.DeepCopy()
		was.Labels, was.Annotations = now.Labels, now.Annotations
		was.Spec.Affinity, was.Spec.NodeSelector = now.Spec.Affinity, now.Spec.NodeSelector
		was.Spec.Tolerations, was.Spec.SchedulingGates = now.Spec.Tolerations, now.Spec.SchedulingGates
		takeResources(was.Spec.Containers, now.Spec.Containers)
		takeResources(was.Spec.InitContainers, now.Spec.InitContainers)
	}
	if equality.Semantic.DeepEqual(j.Spec.Template, *was) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, kind.GoJSON(j.Spec.Template), validation.FieldImmutableErrorMsg)}
}

func takeResources(to, from []corev1.Container) {
	if len(to) != len(from) {
		return
	}
	for i := range to {
		to[i].Resources = from[i].Resources
	}
}

func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateSchedule(c.Spec.Schedule, spec.Child("schedule"))
	if s := c.Spec.StartingDeadlineSeconds; s != nil {
		errs = append(errs, validation.ValidateNonnegativeField(*s, spec.Child("startingDeadlineSeconds"))...)
	}
	policies := []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}
	if p := c.Spec.ConcurrencyPolicy; p != policies[0] && p != policies[1] && p != policies[2] {
		errs = append(errs, field.NotSupported(spec.Child("concurrencyPolicy"), p, policies))
	}
	errs = append(errs, validateJobSpec(&c.Spec.JobTemplate.Spec, spec.Child("jobTemplate", "spec"))...)
	for name, n := range map[string]*int32{
		"successfulJobsHistoryLimit": c.Spec.SuccessfulJobsHistoryLimit,
		"failedJobsHistoryLimit":     c.Spec.FailedJobsHistoryLimit,
	} {
		if n != nil {
			errs = append(errs, validation.ValidateNonnegativeField(int64(*n), spec.Child(name))...)
		}
	}
	return errs
}

// nameOfCronJob leaves room for what the names of its jobs have behind it.
const nameOfCronJob = 52

func validateNewCronJob(c *batchv1.CronJob) field.ErrorList {
	errs := validateCronJob(c)
	if len(c.Name) > nameOfCronJob {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

// validateSchedule counts the fields; what is in them is not looked at.
func validateSchedule(schedule string, at *field.Path) field.ErrorList {
	if schedule == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if strings.HasPrefix(schedule, "@") || strings.Contains(schedule, "TZ") {
		return nil
	}
	if fields := strings.Fields(schedule); len(fields) != 5 {
		return field.ErrorList{field.Invalid(at, schedule, fmt.Sprintf("expected exactly 5 fields, found %d: %s", len(fields), fields))}
	}
	return nil
}
