package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

func TestConflictsOnDemand(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	f := e.faults.Conflict(faults.On("update", "configmaps").Times(2))
	attempts := 0
	e.check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		attempts++
		obj, err := e.get("a")
		e.check(err)
		obj.Data = map[string]string{"key": "value"}
		return e.update(obj)
	}))
	if attempts != 3 || f.Injected() != 2 {
		t.Errorf("%d attempts, %d conflicts; want 3 and 2", attempts, f.Injected())
	}
}

func TestTriggersCountPerObject(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	e.check(e.create("b"))
	match := faults.On("update", "configmaps").Times(1)
	match.PerObject = true
	f := e.faults.Conflict(match)
	var conflicts []string
	for _, name := range []string{"a", "a", "b", "a", "b"} {
		if err := e.update(configMap(name)); apierrors.IsConflict(err) {
			conflicts = append(conflicts, name)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, conflicts); diff != "" || f.Counts().Matched != 5 {
		t.Errorf("conflicts, counts %+v: %s", f.Counts(), diff)
	}
}

func TestConflictHasTheTextOfKubernetes(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	defer e.faults.Conflict(faults.On("update", "configmaps")).Remove()
	err := e.update(configMap("a"))
	const want = `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`
	if !apierrors.IsConflict(err) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestInterveningWriteConflictsOnlyWithStaleWrites(t *testing.T) {
	e := start(t)
	e.check(e.create("a"))
	stale, err := e.get("a")
	e.check(err)
	f := e.faults.InterveningWrite(faults.On("", "configmaps").Named("a"))
	if err := e.update(stale); !apierrors.IsConflict(err) {
		t.Errorf("a write with a resourceVersion: %v", err)
	}
	stale.ResourceVersion = ""
	e.check(e.update(stale))
	_, err = e.client.CoreV1().ConfigMaps("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	e.check(err)
	if f.Injected() != 3 {
		t.Errorf("%d intervening writes, want 3", f.Injected())
	}
	if err := e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "absent", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object that does not exist: %v", err)
	}
}

func TestErrorsHaveTheirReasons(t *testing.T) {
	e := start(t)
	for code, is := range map[int]func(error) bool{
		404: apierrors.IsNotFound, 409: apierrors.IsConflict, 410: apierrors.IsResourceExpired, 422: apierrors.IsInvalid,
		429: apierrors.IsTooManyRequests, 500: apierrors.IsInternalError, 503: apierrors.IsServiceUnavailable, 504: apierrors.IsTimeout,
	} {
		f := e.faults.Error(faults.On("create", "configmaps"), code)
		if err := e.create("a"); !is(err) {
			t.Errorf("%d: %v", code, err)
		}
		f.Remove()
		if _, err := e.get("a"); !apierrors.IsNotFound(err) {
			t.Errorf("%d: the object was written: %v", code, err)
		}
	}
}

func TestRetryAfterIsSent(t *testing.T) {
	e := start(t)
	f, err := e.faults.Add(faults.Fault{
		Match:  faults.On("create", "configmaps").Times(1),
		Effect: faults.Effect{Status: &faults.Status{Code: 429, RetryAfterSeconds: 1}},
	})
	e.check(err)
	began := time.Now()
	e.check(e.create("a")) // client-go repeats the request
	if f.Injected() != 1 || time.Since(began) < time.Second {
		t.Errorf("%d errors; the client repeats the request after %v", f.Injected(), time.Since(began))
	}
}

func TestErrorAfterWrite(t *testing.T) {
	e := start(t)
	f := e.faults.ErrorAfterWrite(faults.On("create", "configmaps"), http.StatusGatewayTimeout)
	if err := e.create("a"); !apierrors.IsTimeout(err) {
		t.Errorf("the first create: %v", err)
	}
	if _, err := e.get("a"); err != nil {
		t.Errorf("the object was not written: %v", err)
	}
	if err := e.create("a"); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the response to a failed write is replaced: %v", err)
	}
	f.Remove()
}

func TestResets(t *testing.T) {
	e := start(t)
	f := e.faults.Reset(faults.On("create", "configmaps"))
	if err := e.create("a"); err == nil || isStatus(err) {
		t.Errorf("got %v, want an error of the connection", err)
	}
	f.Remove()
	e.check(e.create("a"))
	f = e.faults.ResetAfterWrite(faults.On("create", "configmaps"))
	if err := e.create("b"); err == nil || isStatus(err) {
		t.Errorf("got %v, want an error of the connection", err)
	}
	f.Remove()
	if _, err := e.get("b"); err != nil {
		t.Errorf("the object was not written: %v", err)
	}
	f, err := e.faults.Add(faults.Fault{Match: faults.On("list", "configmaps"), Effect: faults.Effect{Reset: &faults.Reset{AfterBytes: 20}}})
	e.check(err)
	if _, err := e.client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a truncated response is accepted")
	}
	f.Remove()
}

func isStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

func TestLatency(t *testing.T) {
	e := start(t)
	const delay = 50 * time.Millisecond
	defer e.faults.Latency(faults.On("get", "configmaps"), delay).Remove()
	began := time.Now()
	_, _ = e.get("a")
	if took := time.Since(began); took < delay {
		t.Errorf("the request took %v, less than the delay", took)
	}
}

func TestMatch(t *testing.T) {
	e := start(t)
	jane := rest.CopyConfig(e.server.RESTConfig())
	jane.Impersonate.UserName, jane.UserAgent = "jane", "jane/1.0"
	for _, test := range []struct {
		rule  string
		match faults.Match
		hit   bool
	}{
		{"an empty match selects every request", faults.Match{}, true},
		{"the verb", faults.On("get", "configmaps"), true},
		{"another verb", faults.On("list", "configmaps"), false},
		{"another resource", faults.On("get", "secrets"), false},
		{"the core group", faults.Match{Groups: []string{""}}, true},
		{"another group", faults.Match{Groups: []string{"apps"}}, false},
		{"the namespace", faults.On("").In("other", "default"), true},
		{"another namespace", faults.On("").In("other"), false},
		{"the name", faults.On("").Named("a"), true},
		{"another name", faults.On("").Named("b"), false},
		{"the user", faults.On("").By("jane"), true},
		{"another user", faults.On("").By("joe"), false},
		{"a prefix of the user agent", faults.On("").From("jane/"), true},
		{"another user agent", faults.On("").From("joe/"), false},
		{"another field manager", faults.Match{FieldManagers: []string{"m"}}, false},
		{"a subresource", faults.On("get", "configmaps/status"), false},
		{"labels of an object that does not exist", faults.On("").Labelled("app=web"), false},
	} {
		f := e.faults.Error(test.match, 503)
		_, err := servertest.Client(e, jane).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
		if hit := apierrors.IsServiceUnavailable(err); hit != test.hit || (f.Injected() > 0) != test.hit {
			t.Errorf("%s: %v", test.rule, err)
		}
		f.Remove()
	}
}

// TestTriggers records which of 12 requests fail.
func TestTriggers(t *testing.T) {
	e := start(t)
	run := func(match faults.Match) string {
		match.Verbs = []string{"get"}
		f := e.faults.Error(match, 503)
		defer f.Remove()
		var results strings.Builder
		for range 12 {
			if _, err := e.get("a"); apierrors.IsServiceUnavailable(err) {
				results.WriteByte('x')
			} else {
				results.WriteByte('.')
			}
		}
		return results.String()
	}
	for want, match := range map[string]faults.Match{
		"xxx.........": {Count: 3},
		"...x........": {Nth: 4},
		"..x..x..x..x": {Every: 3},
		"..x..x......": {Every: 3, Count: 2},
	} {
		if got := run(match); got != want {
			t.Errorf("%+v: %s, want %s", match, got, want)
		}
	}
	share := faults.Match{Probability: 0.5, Seed: 7}
	first := run(share)
	for range 20 {
		if again := run(share); again != first {
			t.Fatalf("the same seed gives %s and %s", first, again)
		}
	}
	share.Seed = 8
	if other := run(share); other == first || !strings.Contains(first, "x") || !strings.Contains(first, ".") {
		t.Errorf("seeds 7 and 8 give %s and %s", first, other)
	}
}

func TestFaultEndsAfterItsDuration(t *testing.T) {
	e := start(t)
	f := e.faults.Error(faults.On("get").For(time.Nanosecond), 503)
	if _, err := e.get("a"); !apierrors.IsNotFound(err) || f.Injected() != 0 {
		t.Errorf("after its end: %v", err)
	}
}

func TestFirstFaultWins(t *testing.T) {
	e := start(t)
	first := e.faults.Error(faults.On("get").Times(1), 503)
	second := e.faults.Error(faults.On("get"), 500)
	var got []string
	for range 2 {
		_, err := e.get("a")
		got = append(got, fmt.Sprint(apierrors.ReasonForError(err)))
	}
	if diff := cmp.Diff([]string{"ServiceUnavailable", "InternalError"}, got); diff != "" {
		t.Error(diff)
	}
	if c := first.Counts(); c.Matched != 2 || c.Injected != 1 || c.LastRequest != "GET /api/v1/namespaces/default/configmaps/a" || second.Injected() != 1 {
		t.Errorf("counts %+v and %+v", c, second.Counts())
	}
	e.faults.RemoveAll()
	if _, err := e.get("a"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
