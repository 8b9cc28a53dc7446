package batch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
)

// maxCronJobName is the longest name of a CronJob: the names of its jobs add a suffix.
const maxCronJobName = 52

func validateNewCronJob(c *batchv1.CronJob, features *feature.Set) field.ErrorList {
	errs := validateCronJob(c, &batchv1.CronJob{}, features)
	if len(c.Name) > maxCronJobName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

// validateCronJob accepts unchanged values that older releases accepted.
func validateCronJob(c, old *batchv1.CronJob, features *feature.Set) field.ErrorList {
	spec := field.NewPath("spec")
	job := spec.Child("jobTemplate", "spec")
	return slices.Concat(
		validateSchedule(&c.Spec, &old.Spec, spec.Child("schedule")),
		kind.NonNegative(spec.Child("startingDeadlineSeconds"), c.Spec.StartingDeadlineSeconds),
		validateTimeZone(c.Spec.TimeZone, old.Spec.TimeZone, spec.Child("timeZone")),
		kind.OneOf(spec.Child("concurrencyPolicy"), c.Spec.ConcurrencyPolicy,
			batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent),
		validateJobSpec(&c.Spec.JobTemplate.Spec, features, job),
		validateNoSelector(&c.Spec.JobTemplate.Spec, job),
		kind.NonNegative(spec.Child("successfulJobsHistoryLimit"), c.Spec.SuccessfulJobsHistoryLimit),
		kind.NonNegative(spec.Child("failedJobsHistoryLimit"), c.Spec.FailedJobsHistoryLimit),
	)
}

// validateNoSelector rejects selectors: each job selects its own pods.
func validateNoSelector(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Selector != nil {
		errs = append(errs, field.Invalid(at.Child("selector"), spec.Selector, "`selector` will be auto-generated"))
	}
	if spec.ManualSelector != nil && *spec.ManualSelector {
		errs = append(errs, field.NotSupported(at.Child("manualSelector"), true, []string{"nil", "false"}))
	}
	return errs
}

// validateSchedule rejects a time zone in the schedule, unless the old schedule has one.
func validateSchedule(spec, old *batchv1.CronJobSpec, at *field.Path) field.ErrorList {
	if spec.Schedule == "" {
		return kind.ByTag(field.ErrorList{field.Required(at, "")})
	}
	var errs field.ErrorList
	if err := parseSchedule(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(at, spec.Schedule, err.Error()))
	}
	switch zoned, was := strings.Contains(spec.Schedule, "TZ"), strings.Contains(old.Schedule, "TZ"); {
	case zoned && was && spec.TimeZone != nil:
		errs = append(errs, field.Invalid(at, spec.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	case zoned && !was:
		errs = append(errs, field.Invalid(at, spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	return errs
}

// parseSchedule returns an error for malformed time zones on which the parser panics.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// isZonePart reports whether a string has the form of one segment of a time zone's name.
func isZonePart(part string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-"
	return part != "" && part != "." && part != ".." && len(part) <= 14 && part[0] != '-' && strings.Trim(part, letters) == ""
}

func validateTimeZone(zone, old *string, at *field.Path) field.ErrorList {
	switch {
	case zone == nil, old != nil && *zone == *old:
		return nil
	case *zone == "":
		return field.ErrorList{field.Invalid(at, *zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if !isZonePart(part) {
			return field.ErrorList{field.Invalid(at, *zone, "unknown time zone "+*zone)}
		}
	}
	var errs field.ErrorList
	if strings.EqualFold(*zone, "Local") {
		errs = append(errs, field.Invalid(at, *zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(at, *zone, err.Error()))
	}
	return errs
}
