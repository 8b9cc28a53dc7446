package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// The limits of indexed jobs, which keep the indexes in the status short.
const (
	mostParallel       = 100_000
	mostFailedIndexes  = 100_000
	manyCompletions    = 100_000
	mostParallelOfMany = 10_000
	mostFailedOfMany   = 10_000
)

const (
	longestManager = 63
	needsIndexed   = "requires indexed completion mode"
	ofManyText     = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
)

func validateJob(j *batchv1.Job, features *feature.Set) field.ErrorList {
	return slices.Concat(
		validateOwnSelector(j),
		validateSelectingJob(&j.Spec, features, field.NewPath("spec")),
		validatePodNames(j),
	)
}

// validateOwnSelector requires the labels and the selector that selectOwnPods sets: a client may
// have set others before.
func validateOwnSelector(j *batchv1.Job) field.ErrorList {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector || j.Spec.Selector == nil {
		return nil
	}
	var errs field.ErrorList
	own := labels.Set{
		"controller-uid": string(j.UID), batchv1.ControllerUidLabel: string(j.UID),
		"job-name": j.Name, batchv1.JobNameLabel: j.Name,
	}
	for _, key := range []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
		at := field.NewPath("spec", "template", "metadata", "labels").Key(key)
		message := fmt.Sprintf("must be '%s'", own[key])
		if value, ok := j.Spec.Template.Labels[key]; !ok {
			errs = append(errs, field.Required(at, message))
		} else if value != own[key] {
			errs = append(errs, field.Invalid(at, j.Spec.Template.Labels, message))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !selector.Matches(own) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// validatePodNames validates the longest host name of an indexed job's pods.
func validatePodNames(j *batchv1.Job) field.ErrorList {
	if !isIndexed(&j.Spec) || j.Spec.Completions == nil || *j.Spec.Completions <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
	if len(utilvalidation.IsDNS1123Label(last)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+last)}
}

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

// validateSelectingJob accepts an empty selector.
func validateSelectingJob(spec *batchv1.JobSpec, features *feature.Set, at *field.Path) field.ErrorList {
	errs := validateJobSpec(spec, features, at)
	if spec.Selector == nil {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	}
	errs = append(errs, kind.Selector(at.Child("selector"), spec.Selector)...)
	if selector, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil {
		errs = append(errs, podspec.ValidateSelected(selector, &spec.Template, at.Child("template"))...)
	}
	return errs
}

// validateJobSpec hasCondition for the templates of CronJobs too.
func validateJobSpec(spec *batchv1.JobSpec, features *feature.Set, at *field.Path) field.ErrorList {
	return slices.Concat(
		kind.NonNegative(at.Child("parallelism"), spec.Parallelism),
		kind.NonNegative(at.Child("completions"), spec.Completions),
		kind.NonNegative(at.Child("activeDeadlineSeconds"), spec.ActiveDeadlineSeconds),
		kind.NonNegative(at.Child("backoffLimit"), spec.BackoffLimit),
		kind.NonNegative(at.Child("ttlSecondsAfterFinished"), spec.TTLSecondsAfterFinished),
		kind.NonNegative(at.Child("backoffLimitPerIndex"), spec.BackoffLimitPerIndex),
		validateMaxFailed(spec, at),
		validateManager(spec.ManagedBy, at.Child("managedBy")),
		kind.SupportedIfSet(at.Child("completionMode"), spec.CompletionMode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion),
		validateMode(spec, at),
		validateFailurePolicy(spec, at.Child("podFailurePolicy")),
		validateSuccessPolicy(spec, at.Child("successPolicy")),
		validateReplacementPolicy(spec, at.Child("podReplacementPolicy")),
		podspec.ValidateTemplate(&spec.Template, features, at.Child("template")),
		validateRestartPolicy(spec, at.Child("template", "spec", "restartPolicy")),
	)
}

func validateMaxFailed(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := kind.NonNegative(at.Child("maxFailedIndexes"), spec.MaxFailedIndexes)
	if spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	return errs
}

func validateManager(manager *string, at *field.Path) field.ErrorList {
	if manager == nil {
		return nil
	}
	errs := utilvalidation.IsDomainPrefixedPath(at, *manager)
	if len(*manager) > longestManager {
		errs = append(errs, field.TooLong(at, "", longestManager))
	}
	return errs
}

// validateMode validates the fields that depend on the completion mode.
func validateMode(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch {
	case isIndexed(spec):
		return slices.Concat(validateIndexed(spec, at), validateManyIndexes(spec, at))
	case spec.CompletionMode != nil && *spec.CompletionMode != batchv1.NonIndexedCompletion:
		return nil
	}
	var errs field.ErrorList
	if n := spec.BackoffLimitPerIndex; n != nil {
		errs = append(errs, field.Invalid(at.Child("backoffLimitPerIndex"), *n, needsIndexed))
	}
	if n := spec.MaxFailedIndexes; n != nil {
		errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, needsIndexed))
	}
	return errs
}

func validateIndexed(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Completions == nil {
		errs = append(errs, field.Required(at.Child("completions"), "when completion mode is Indexed"))
	}
	if n := spec.Parallelism; n != nil && *n > mostParallel {
		errs = append(errs, field.Invalid(at.Child("parallelism"), *n,
			fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", mostParallel)))
	}
	if n := spec.MaxFailedIndexes; n != nil && spec.Completions != nil && *n > *spec.Completions {
		errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, "must be less than or equal to completions"))
	}
	if n := spec.MaxFailedIndexes; n != nil && *n > mostFailedIndexes {
		errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, fmt.Sprintf("must be less than or equal to %d", mostFailedIndexes)))
	}
	return errs
}

// validateManyIndexes validates jobs with limits per index and very many indexes.
func validateManyIndexes(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	if spec.Completions == nil || *spec.Completions <= manyCompletions || spec.BackoffLimitPerIndex == nil {
		return nil
	}
	var errs field.ErrorList
	failed := at.Child("maxFailedIndexes")
	if spec.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(failed, fmt.Sprintf("must be specified when completions is above %d", manyCompletions)))
	}
	if n := spec.Parallelism; n != nil && *n > mostParallelOfMany {
		errs = append(errs, field.Invalid(at.Child("parallelism"), *n, fmt.Sprintf(ofManyText, mostParallelOfMany, manyCompletions)))
	}
	if n := spec.MaxFailedIndexes; n != nil && *n > mostFailedOfMany {
		errs = append(errs, field.Invalid(failed, *n, fmt.Sprintf(ofManyText, mostFailedOfMany, manyCompletions)))
	}
	return errs
}

// validateRestartPolicy rejects the default restart policy of pod specs like a missing one.
func validateRestartPolicy(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	policy := spec.Template.Spec.RestartPolicy
	switch {
	case policy == "" || policy == corev1.RestartPolicyAlways:
		return field.ErrorList{field.Required(at, `valid values: "OnFailure", "Never"`)}
	case policy == corev1.RestartPolicyOnFailure && spec.PodFailurePolicy != nil:
		return field.ErrorList{field.Invalid(at, policy, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return kind.Supported(at, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
}

// validateJobUpdate rejects changes of the fields that the pods of a job were created from. It does
// not require the labels and the selector of a new job.
func validateJobUpdate(j, old *batchv1.Job, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateSelectingJob(&j.Spec, features, spec),
		validateCompletions(&j.Spec, &old.Spec, spec.Child("completions")),
		kind.Immutable(spec.Child("selector"), j.Spec.Selector, old.Spec.Selector),
		validateImmutableTemplate(j, old, spec.Child("template")),
		kind.Immutable(spec.Child("completionMode"), j.Spec.CompletionMode, old.Spec.CompletionMode),
		kind.Immutable(spec.Child("podFailurePolicy"), j.Spec.PodFailurePolicy, old.Spec.PodFailurePolicy),
		kind.Immutable(spec.Child("backoffLimitPerIndex"), j.Spec.BackoffLimitPerIndex, old.Spec.BackoffLimitPerIndex),
		kind.Immutable(spec.Child("managedBy"), j.Spec.ManagedBy, old.Spec.ManagedBy),
		kind.Immutable(spec.Child("successPolicy"), j.Spec.SuccessPolicy, old.Spec.SuccessPolicy),
		validatePodNames(j),
	)
}

// validateCompletions allows an indexed job to change completions together with parallelism.
func validateCompletions(spec, old *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch {
	case !isIndexed(spec):
		return validation.ValidateImmutableField(spec.Completions, old.Completions, at)
	case equality.Semantic.DeepEqual(spec.Completions, old.Completions), spec.Completions == nil,
		equality.Semantic.DeepEqual(spec.Completions, spec.Parallelism):
		return nil
	}
	return field.ErrorList{field.Invalid(at, spec.Completions, "can only be modified in tandem with spec.parallelism")}
}

// validateImmutableTemplate allows changes of scheduling directives and resources while a job is
// suspended and has no pods. The metadata of the template is not compared then.
func validateImmutableTemplate(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	if !waits(old) {
		return kind.Immutable(at, j.Spec.Template, old.Spec.Template)
	}
	was, now := old.Spec.Template.DeepCopy(), &j.Spec.Template
	copySchedulingDirectives(was, now)
	copyResources(was.Spec.Containers, now.Spec.Containers)
	copyResources(was.Spec.InitContainers, now.Spec.InitContainers)
	return kind.Immutable(at.Child("spec"), now.Spec, was.Spec)
}

func waits(j *batchv1.Job) bool {
	suspended := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	})
	return ptr.Deref(j.Spec.Suspend, false) && (j.Status.StartTime == nil || suspended) && j.Status.Active == 0
}

// copySchedulingDirectives copies the scheduling directives of a template.
func copySchedulingDirectives(to, from *corev1.PodTemplateSpec) {
	to.Spec.NodeSelector = from.Spec.NodeSelector
	to.Spec.Tolerations, to.Spec.SchedulingGates = from.Spec.Tolerations, from.Spec.SchedulingGates
	was, now := corev1.Affinity{}, corev1.Affinity{}
	if to.Spec.Affinity != nil {
		was = *to.Spec.Affinity
	}
	if from.Spec.Affinity != nil {
		now = *from.Spec.Affinity
	}
	was.NodeAffinity = now.NodeAffinity
	if equality.Semantic.DeepEqual(was, now) {
		to.Spec.Affinity = from.Spec.Affinity
	}
}

func copyResources(to, from []corev1.Container) {
	if len(to) != len(from) {
		return
	}
	for i := range to {
		if to[i].Name == from[i].Name {
			to[i].Resources = from[i].Resources
		}
	}
}
