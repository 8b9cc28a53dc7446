package batch

import (
	"context"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func jobs(features *feature.Set) *registry.Resource {
	return kind.Definition[*batchv1.Job]{
		GroupVersion: batchv1.SchemeGroupVersion,
		Object:       &batchv1.Job{},
		List:         &batchv1.JobList{},
		Resource:     "jobs",
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      defaultJob,
		Restore:      defaultJob,
		GatedFields: podspec.GatedFields("spec.template.spec").And(
			kind.Gated(feature.WorkloadWithJob, "spec.scheduling")),
		PrepareForCreate:         selectOwnPods,
		ValidateCreate:           func(j *batchv1.Job) field.ErrorList { return validateJob(j, features) },
		WarningsOnCreate:         warningsForNewJob,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           func(j, old *batchv1.Job) field.ErrorList { return validateJobUpdate(j, old, features) },
		WarningsOnUpdate:         kind.OncePerGeneration(warningsForJob),
		WarningsOnDelete:         warningsForOrphans,
		DefaultPropagation:       metav1.DeletePropagationOrphan,
		ValidateStatusUpdate:     validateJobStatus,
		FieldLabel:               kind.FieldLabelsElse("field label %q not supported for Job", "metadata.name", "metadata.namespace", "status.successful"),
		Fields: func(j *batchv1.Job) fields.Set {
			return fields.Set{"status.successful": strconv.Itoa(int(j.Status.Succeeded))}
		},
		Columns: jobColumns(),
	}.Build(features)
}

// warningsForOrphans returns the warning about the default propagation of a deletion.
func warningsForOrphans(opts *metav1.DeleteOptions) []string {
	if opts.PropagationPolicy != nil || opts.OrphanDependents != nil {
		return nil
	}
	return []string{"child pods are preserved by default when jobs are deleted; set propagationPolicy=Background " +
		"to remove them or set propagationPolicy=Orphan to suppress this warning"}
}

// selectOwnPods sets labels and a selector with the job's uid, unless the client manages them. It
// keeps labels that the client has set; validation checks them.
func selectOwnPods(_ context.Context, j *batchv1.Job) {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = make(map[string]string, 4)
	}
	labels := j.Spec.Template.Labels
	setDefault(labels, batchv1.JobNameLabel, j.Name)
	setDefault(labels, "job-name", j.Name)
	setDefault(labels, batchv1.ControllerUidLabel, string(j.UID))
	setDefault(labels, "controller-uid", string(j.UID))
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if j.Spec.Selector.MatchLabels == nil {
		j.Spec.Selector.MatchLabels = make(map[string]string, 1)
	}
	setDefault(j.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(j.UID))
}

func setDefault(m map[string]string, key, value string) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

func jobColumns() []kind.Column[*batchv1.Job] {
	columns := kind.WorkloadColumns(jobTemplate,
		kind.TextColumn("Status", "Status of the job.", func(j *batchv1.Job) any { return jobStatus(j) }),
		kind.TextColumn("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"],
			func(j *batchv1.Job) any { return jobCompletions(j) }),
		kind.TextColumn("Duration", "Time required to complete the job.",
			func(j *batchv1.Job) any { return jobDuration(&j.Status) }),
	)
	return append(columns, kind.WideColumn("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"],
		func(j *batchv1.Job) any { return metav1.FormatLabelSelector(j.Spec.Selector) }))
}

func jobStatus(j *batchv1.Job) string {
	switch {
	case hasCondition(j, batchv1.JobComplete):
		return "Complete"
	case hasCondition(j, batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case hasCondition(j, batchv1.JobSuspended):
		return "Suspended"
	case hasCondition(j, batchv1.JobFailureTarget):
		return "FailureTarget"
	case hasCondition(j, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	default:
		return "Running"
	}
}

func jobCompletions(j *batchv1.Job) string {
	done := j.Status.Succeeded
	switch {
	case j.Spec.Completions != nil:
		return fmt.Sprintf("%d/%d", done, *j.Spec.Completions)
	case j.Spec.Parallelism != nil && *j.Spec.Parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", done, *j.Spec.Parallelism)
	default:
		return fmt.Sprintf("%d/1", done)
	}
}

func jobDuration(s *batchv1.JobStatus) any {
	switch {
	case s.StartTime == nil:
		return ""
	case s.CompletionTime == nil:
		return kind.Age(*s.StartTime)
	default:
		return duration.HumanDuration(s.CompletionTime.Sub(s.StartTime.Time))
	}
}

func jobTemplate(j *batchv1.Job) *corev1.PodTemplateSpec { return &j.Spec.Template }
