package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func cronJobs(features *feature.Set) *registry.Resource {
	return kind.Definition[*batchv1.CronJob]{
		GroupVersion: batchv1.SchemeGroupVersion,
		Object:       &batchv1.CronJob{},
		List:         &batchv1.CronJobList{},
		Resource:     "cronjobs",
		ShortNames:   []string{"cj"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      defaultCronJob,
		GatedFields: podspec.GatedFields("spec.jobTemplate.spec.template.spec").And(
			kind.Gated(feature.WorkloadWithJob, "spec.jobTemplate.spec.scheduling")),
		ValidateCreate:           func(c *batchv1.CronJob) field.ErrorList { return validateNewCronJob(c, features) },
		WarningsOnCreate:         warningsForNewCronJob,
		AllowUnconditionalUpdate: true,
		ValidateUpdate:           func(c, old *batchv1.CronJob) field.ErrorList { return validateCronJob(c, old, features) },
		WarningsOnUpdate:         warningsForChangedCronJob,
		Columns:                  cronJobColumns(),
	}.Build(features)
}

func cronJobColumns() []kind.Column[*batchv1.CronJob] {
	spec, status := batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()
	columns := kind.WorkloadColumns(cronJobTemplate,
		kind.TextColumn("Schedule", spec["schedule"], func(c *batchv1.CronJob) any { return c.Spec.Schedule }),
		kind.TextColumn("Timezone", spec["timeZone"],
			func(c *batchv1.CronJob) any { return ptr.Deref(c.Spec.TimeZone, kind.None) }),
		kind.BooleanColumn("Suspend", spec["suspend"], func(c *batchv1.CronJob) any { return boolCell(c.Spec.Suspend) }),
		kind.IntegerColumn("Active", status["active"], func(c *batchv1.CronJob) any { return int64(len(c.Status.Active)) }),
		kind.TextColumn("Last Schedule", status["lastScheduleTime"], lastScheduleCell),
	)
	return append(columns, kind.WideColumn("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"],
		func(c *batchv1.CronJob) any { return metav1.FormatLabelSelector(c.Spec.JobTemplate.Spec.Selector) }))
}

func boolCell(b *bool) string {
	switch {
	case b == nil:
		return "<unset>"
	case *b:
		return "True"
	default:
		return "False"
	}
}

func cronJobTemplate(c *batchv1.CronJob) *corev1.PodTemplateSpec {
	return &c.Spec.JobTemplate.Spec.Template
}

func lastScheduleCell(c *batchv1.CronJob) any {
	if c.Status.LastScheduleTime == nil {
		return kind.None
	}
	return kind.Age(*c.Status.LastScheduleTime)
}
