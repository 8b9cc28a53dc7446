package batch

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warnOfNewCronJob(c *batchv1.CronJob) []string {
	return append(kind.WarnOfName(c.Name), warnOfJobTemplate(c)...)
}

// warningsForChangedCronJob reports the schedule under a path that does not exist, as
// kube-apiserver does.
func warnOfChangedCronJob(c, old *batchv1.CronJob) []string {
	var warnings []string
	if c.Generation != old.Generation {
		warnings = warnOfJobTemplate(c)
	}
	if strings.Contains(c.Spec.Schedule, "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}
