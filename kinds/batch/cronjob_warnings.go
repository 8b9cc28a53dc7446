package batch

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warningsForNewCronJob(c *batchv1.CronJob) []string {
	return append(kind.WarningsForName(c.Name), warningsForJobTemplate(c)...)
}

// warningsForChangedCronJob reports the schedule under a path that does not exist, as
// kube-apiserver does.
func warningsForChangedCronJob(c, old *batchv1.CronJob) []string {
	var warnings []string
	if c.Generation != old.Generation {
		warnings = warningsForJobTemplate(c)
	}
	if strings.Contains(c.Spec.Schedule, "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}
