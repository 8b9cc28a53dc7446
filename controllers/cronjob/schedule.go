package cronjob

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/controllers/reconcile"
)

// manyMissed is the number of missed times that an Event reports.
const manyMissed = 100

// parse returns the schedule of a CronJob. The library panics on malformed time zones.
func parse(spec *batchv1.CronJobSpec) (schedule cron.Schedule, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	text := spec.Schedule
	if spec.TimeZone != nil && !strings.Contains(text, "TZ") {
		text = fmt.Sprintf("TZ=%s %s", *spec.TimeZone, text)
	}
	return cron.ParseStandard(text)
}

// schedule creates the Job of the latest time of the schedule that has passed, if the policies
// allow it. It returns the time until the next one.
func (p *pass) schedule(ctx context.Context) (time.Duration, error) {
	spec := &p.cronJob.Spec
	schedule, err := parse(spec)
	if err != nil {
		p.warn(ctx, "UnparseableSchedule", "unparseable schedule: %q : %s", spec.Schedule, err)
		return 0, nil
	}
	next := schedule.Next(p.now)
	if next.IsZero() { // such as the 30th of February
		return 0, nil
	}
	wait := next.Sub(p.now)
	due, missed := latest(schedule, p.since(), p.now)
	if missed > manyMissed {
		p.warn(ctx, "TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	last := p.cronJob.Status.LastScheduleTime
	switch deadline := spec.StartingDeadlineSeconds; {
	case due.IsZero(), last != nil && !last.Time.Before(due):
		return wait, nil
	case deadline != nil && due.Add(time.Duration(*deadline)*time.Second).Before(p.now):
		p.warn(ctx, "MissSchedule", "Missed scheduled time to start a job: %s", due.UTC().Format(time.RFC1123Z))
		return wait, nil
	case spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(p.cronJob.Status.Active) > 0:
		p.event(ctx, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return wait, nil
	case spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		if err := p.deleteActive(ctx); err != nil {
			return 0, err
		}
	}
	return wait, p.create(ctx, due)
}

// since returns the time after which the schedule has not been met.
func (p *pass) since() time.Time {
	since := p.cronJob.CreationTimestamp.Time
	if last := p.cronJob.Status.LastScheduleTime; last != nil {
		since = last.Time
	}
	if deadline := p.cronJob.Spec.StartingDeadlineSeconds; deadline != nil {
		if earliest := p.now.Add(-time.Duration(*deadline) * time.Second); earliest.After(since) {
			return earliest
		}
	}
	return since
}

// latest returns the last time of a schedule after since and not after now, and the number of such
// times. It is the zero time if there is none.
func latest(schedule cron.Schedule, since, now time.Time) (due time.Time, times int) {
	for t := schedule.Next(since); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
		due = t
		times++
	}
	return due, times
}

func (p *pass) deleteActive(ctx context.Context) error {
	for _, j := range p.jobs {
		if !p.isActive(j) {
			continue
		}
		if err := p.delete(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// create creates the Job of a time. Its name is derived from the time, so that no time has two
// Jobs.
func (p *pass) create(ctx context.Context, due time.Time) error {
	j, err := p.newJob(due)
	if err != nil {
		return err
	}
	created, err := p.controller.jobs.Create(ctx, j)
	switch {
	case apierrors.IsAlreadyExists(err):
		created, err = p.controller.jobs.Get(ctx, j.Namespace, j.Name)
		if err != nil || !metav1.IsControlledBy(created, p.cronJob) {
			return err
		}
	case reconcile.IgnoreTerminating(err) != nil:
		p.warn(ctx, "FailedCreate", "Error creating job: %v", err)
		return err
	case err != nil:
		return nil
	default:
		p.event(ctx, "SuccessfulCreate", "Created job %v", created.Name)
	}
	p.addActive(created)
	p.cronJob.Status.LastScheduleTime = new(metav1.NewTime(due))
	return nil
}

func (p *pass) newJob(due time.Time) (*batchv1.Job, error) {
	location := time.Local
	if zone := p.cronJob.Spec.TimeZone; zone != nil {
		var err error
		if location, err = time.LoadLocation(*zone); err != nil {
			return nil, err
		}
	}
	template := p.cronJob.Spec.JobTemplate.DeepCopy()
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.cronJob.Namespace, Name: fmt.Sprintf("%s-%d", p.cronJob.Name, due.Unix()/60),
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
			OwnerReferences: []metav1.OwnerReference{p.owner.ControllerReference()},
		},
		Spec: template.Spec,
	}
	metav1.SetMetaDataAnnotation(&j.ObjectMeta, batchv1.CronJobScheduledTimestampAnnotation, due.In(location).Format(time.RFC3339))
	return j, nil
}
