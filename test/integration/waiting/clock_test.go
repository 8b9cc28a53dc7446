package waiting_test

import (
	"net/http"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func (e *env) advance(d time.Duration) {
	e.Helper()
	e.check(e.server.Advance(d))
}

// near requires that a time is the time of the server. Each test advances it by two hours or more.
func (e *env) near(what string, got metav1.Time) {
	e.Helper()
	if d := e.server.Now().Sub(got.Time).Abs(); d > 10*time.Minute {
		e.Errorf("%s is %v away from the time of the server", what, d)
	}
}

func TestAdvanceMovesTimestamps(t *testing.T) {
	e := start(t, miniapi.Config{})
	configMaps := e.client.CoreV1().ConfigMaps("default")
	before := configMap("before")
	before.Data = map[string]string{"first": "v"}
	e.createConfigMap(before)
	e.advance(24 * time.Hour)
	obj := configMap("after")
	obj.Finalizers = []string{"example.com/hold"}
	e.createConfigMap(obj)
	e.check(configMaps.Delete(t.Context(), "after", metav1.DeleteOptions{}))
	e.patch("before", `{"data":{"k":"v"}}`)

	after, err := configMaps.Get(t.Context(), "after", metav1.GetOptions{})
	e.check(err)
	e.near("creationTimestamp", after.CreationTimestamp)
	e.near("deletionTimestamp", *after.DeletionTimestamp)
	before, err = configMaps.Get(t.Context(), "before", metav1.GetOptions{})
	e.check(err)
	if len(before.ManagedFields) != 2 {
		t.Errorf("%d managers, want 2", len(before.ManagedFields))
	}
	if age := e.server.Now().Sub(before.CreationTimestamp.Time); age < 24*time.Hour {
		t.Errorf("an older object has the age %v", age)
	}
	for _, entry := range before.ManagedFields {
		if entry.Manager == "painter" {
			e.near("the time of the new manager", *entry.Time)
		} else if age := e.server.Now().Sub(entry.Time.Time); age < 24*time.Hour {
			t.Errorf("the entry of %s has the age %v", entry.Manager, age)
		}
	}
	if err := e.server.Advance(-time.Second); err == nil {
		t.Error("the time goes back")
	}
}

func TestAdvanceMovesTheAgesOfTables(t *testing.T) {
	e := start(t, miniapi.Config{Clock: clocktesting.NewFakeClock(time.Now())}) // no time passes
	e.createConfigMap(configMap("a"))
	e.advance(3*24*time.Hour + time.Hour)
	e.createConfigMap(configMap("b"))
	var table metav1.Table
	e.check(e.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/configmaps").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(&table))
	for i, want := range []string{"3d1h", "0s"} {
		if age := table.Rows[i].Cells[2]; age != want {
			t.Errorf("the age of %v is %v, want %s", table.Rows[i].Cells[0], age, want)
		}
	}
}

func TestAdvanceExpiresEvents(t *testing.T) {
	e := start(t, miniapi.Config{})
	events := e.client.CoreV1().Events("default")
	create := func(name string) {
		t.Helper()
		_, err := events.Create(t.Context(), &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: name}, InvolvedObject: corev1.ObjectReference{Namespace: "default"},
		}, metav1.CreateOptions{})
		e.check(err)
	}
	create("first")
	e.advance(40 * time.Minute)
	create("second")
	e.advance(25 * time.Minute)
	if _, err := events.Get(t.Context(), "first", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an Event has not expired after its hour: %v", err)
	}
	if _, err := events.Get(t.Context(), "second", metav1.GetOptions{}); err != nil {
		t.Errorf("an Event has expired early: %v", err)
	}
	e.advance(40 * time.Minute)
	if _, err := events.Get(t.Context(), "second", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an Event has not expired after its hour: %v", err)
	}
}

func TestAdvanceExpiresTokens(t *testing.T) {
	e := start(t, miniapi.Config{Secure: &miniapi.Secure{}})
	_, err := e.client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	e.check(err)
	token := func() string {
		t.Helper()
		request, err := e.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))},
		}, metav1.CreateOptions{})
		e.check(err)
		return request.Status.Token
	}
	status := func(token string) int {
		t.Helper()
		config := rest.AnonymousClientConfig(e.server.RESTConfig())
		config.BearerToken = token
		response, err := servertest.HTTPClient(t, config).Get(e.server.URL() + "/api/v1/namespaces/default/configmaps")
		e.check(err)
		e.check(response.Body.Close())
		return response.StatusCode
	}
	old := token()
	if code := status(old); code == http.StatusUnauthorized {
		t.Errorf("a new token: %d", code)
	}
	e.advance(2 * time.Hour)
	if code := status(old); code != http.StatusUnauthorized {
		t.Errorf("an expired token: %d", code)
	}
	if code := status(token()); code == http.StatusUnauthorized {
		t.Errorf("a new token after the advance: %d", code)
	}
}

func job(edit func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}}
	j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "x"}}}
	edit(&j.Spec)
	return j
}

var workloads = miniapi.Config{Controllers: []string{"*", "job", "cronjob"}, Pods: miniapi.PodsInstant}

func TestAdvanceExpiresFinishedJobs(t *testing.T) {
	e := start(t, workloads)
	jobs := e.client.BatchV1().Jobs("default")
	_, err := jobs.Create(t.Context(), job(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = new(int32(3600)) }), metav1.CreateOptions{})
	e.check(err)
	e.settle()
	if j, err := jobs.Get(t.Context(), "j", metav1.GetOptions{}); err != nil || j.Status.Succeeded != 1 {
		t.Fatalf("job %+v, error %v", j.Status, err)
	}
	e.advance(time.Hour + time.Second)
	e.settle()
	if _, err := jobs.Get(t.Context(), "j", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job has not expired: %v", err)
	}
}

func TestAdvanceEndsJobsAtTheirDeadline(t *testing.T) {
	e := start(t, workloads)
	jobs := e.client.BatchV1().Jobs("default")
	running := job(func(s *batchv1.JobSpec) {
		s.ActiveDeadlineSeconds = new(int64(600))
		s.Template.Annotations = map[string]string{"miniapi.dev/exit-code": "none"}
	})
	_, err := jobs.Create(t.Context(), running, metav1.CreateOptions{})
	e.check(err)
	e.settle()
	e.advance(601 * time.Second)
	e.settle()
	j, err := jobs.Get(t.Context(), "j", metav1.GetOptions{})
	e.check(err)
	if len(j.Status.Conditions) == 0 || j.Status.Conditions[len(j.Status.Conditions)-1].Reason != "DeadlineExceeded" {
		t.Errorf("status %+v", j.Status)
	}
}

// A CronJob that has missed several times starts one Job, for the latest of them.
func TestAdvanceStartsCronJobs(t *testing.T) {
	config := workloads
	config.Clock = clocktesting.NewFakeClock(time.Date(2030, 1, 1, 12, 3, 0, 0, time.UTC))
	e := start(t, config)
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{
		Schedule: "*/10 * * * *", SuccessfulJobsHistoryLimit: new(int32(100)),
	}}
	c.Spec.JobTemplate.Spec = job(func(*batchv1.JobSpec) {}).Spec
	_, err := e.client.BatchV1().CronJobs("default").Create(t.Context(), c, metav1.CreateOptions{})
	e.check(err)
	e.settle()
	for i, step := range []struct {
		advance time.Duration
		jobs    int
		last    string
	}{
		{6 * time.Minute, 0, ""},
		{2 * time.Minute, 1, "12:10"},
		{10 * time.Minute, 2, "12:20"},
		{time.Hour, 3, "13:20"},
	} {
		e.advance(step.advance)
		e.settle()
		jobs, err := e.client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
		e.check(err)
		c, err := e.client.BatchV1().CronJobs("default").Get(t.Context(), "c", metav1.GetOptions{})
		e.check(err)
		last := ""
		if c.Status.LastScheduleTime != nil {
			last = c.Status.LastScheduleTime.UTC().Format("15:04")
		}
		if len(jobs.Items) != step.jobs || last != step.last {
			t.Errorf("step %d at %v: %d jobs, the last one of %q; want %d of %q", i, e.server.Now(), len(jobs.Items), last, step.jobs, step.last)
		}
	}
}

// The steps of a fake clock have the effect of Advance.
func TestConfiguredClock(t *testing.T) {
	config := workloads
	fake := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	config.Clock = fake
	e := start(t, config)
	obj := configMap("a")
	obj.Data = map[string]string{"k": "v"}
	obj, err := e.client.CoreV1().ConfigMaps("default").Create(t.Context(), obj, metav1.CreateOptions{})
	e.check(err)
	if !obj.CreationTimestamp.Time.Equal(fake.Now()) || !obj.ManagedFields[0].Time.Time.Equal(fake.Now()) {
		t.Errorf("created at %v, managed since %v", obj.CreationTimestamp, obj.ManagedFields[0].Time)
	}
	_, err = e.client.BatchV1().Jobs("default").Create(t.Context(), job(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = new(int32(3600)) }), metav1.CreateOptions{})
	e.check(err)
	e.settle()
	fake.Step(2 * time.Hour)
	e.check(e.server.WaitForDeletion(t.Context(), "job/j"))
}
