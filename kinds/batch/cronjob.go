package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/kinds/podspec"
	"github.com/miniapi/miniapi/registry"
)

func cronJobs() *registry.Resource {
	return kind.Definition{
		GroupVersion: batchv1.SchemeGroupVersion,
		Object:       &batchv1.CronJob{},
		List:         &batchv1.CronJobList{},
		Resource:     "cronjobs",
		Finalizers:   kind.Finalizers,
		ShortNames:   []string{"cj"},
		Categories:   []string{"all"},
		Namespaced:   true,
		Generation:   true,
		Status:       true,
		Default:      kind.Defaults(defaultCronJob),
		Strategy: registry.Strategy{
			Create: registry.CreateStrategy{
				Prepare:  podspec.PrepareTemplate(cronJobTemplate),
				Validate: kind.CheckCreate(validateNewCronJob), Warnings: kind.WarnCreate(warnOfNewCronJob),
			},
			Update: registry.UpdateStrategy{
				AllowUnconditional: true,
				Prepare:            podspec.PrepareTemplateUpdate(cronJobTemplate),
				Validate:           kind.CheckUpdate(validateCronJob),
				Warnings:           kind.WarnUpdate(warnOfChangedCronJob),
			},
		},
		Columns: registry.Columns{Definitions: cronJobColumns(), Row: kind.Row(cronJobRow)},
	}.Build()
}

func cronJobColumns() []metav1.TableColumnDefinition {
	spec, status := batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()
	columns := []metav1.TableColumnDefinition{
		kind.NameColumn(),
		kind.Column("Schedule", "string", spec["schedule"]),
		kind.Column("Timezone", "string", spec["timeZone"]),
		kind.Column("Suspend", "boolean", spec["suspend"]),
		kind.Column("Active", "integer", status["active"]),
		kind.Column("Last Schedule", "string", status["lastScheduleTime"]),
		kind.AgeColumn(),
	}
	columns = append(columns, kind.ContainerColumns()...)
	return append(columns, kind.WideColumn("Selector", "string", batchv1.JobSpec{}.SwaggerDoc()["selector"]))
}

func cronJobRow(c *batchv1.CronJob) []any {
	zone, last := kind.None, kind.None
	if c.Spec.TimeZone != nil {
		zone = *c.Spec.TimeZone
	}
	if c.Status.LastScheduleTime != nil {
		last = kind.Age(*c.Status.LastScheduleTime)
	}
	names, images := kind.ContainerCells(c.Spec.JobTemplate.Spec.Template.Spec.Containers)
	return []any{
		c.Name, c.Spec.Schedule, zone, boolCell(c.Spec.Suspend), int64(len(c.Status.Active)), last,
		kind.Age(c.CreationTimestamp), names, images, metav1.FormatLabelSelector(c.Spec.JobTemplate.Spec.Selector),
	}
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
