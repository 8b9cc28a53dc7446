package faults

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/storage/stale"
)

// writeVerbs are the verbs of requests that can be handled before a failure.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// applies reports whether the effect can be injected into a request.
func (f *Fault) applies(r *http.Request) bool {
	info := request.InfoFrom(r)
	switch e := f.Effect; {
	case e.Watch != nil:
		return info.Verb == "watch"
	case e.Conflict != nil:
		return info.Name != "" && slices.Contains([]string{"update", "patch", "delete"}, info.Verb)
	case e.Stale != nil:
		return info.Verb == "watch" || readsCache(r, info.Verb)
	case e.Etcd != nil:
		return !readsCache(r, info.Verb)
	case e.Status != nil && e.Status.AfterWrite, e.Reset != nil && e.Reset.AfterWrite:
		return slices.Contains(writeVerbs, info.Verb)
	}
	return true
}

// readsCache reports whether a watch cache may answer a request without a request to etcd.
func readsCache(r *http.Request, verb string) bool {
	query := r.URL.Query()
	version := query.Get("resourceVersion")
	switch verb {
	case "get", "watch":
		return version != ""
	case "list":
		exact := query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact)
		return version != "" && !exact && !query.Has("continue") && (version == "0" || !query.Has("limit"))
	}
	return false
}

// injection returns the failure for a request.
func (a *Active) injection(r *http.Request) *request.Injection {
	info := request.InfoFrom(r)
	switch e := a.fault.Effect; {
	case e.Status != nil:
		return &request.Injection{Err: e.Status.err(info), AfterSuccess: e.Status.AfterWrite}
	case e.Conflict != nil && e.Conflict.InterveningWrite:
		return &request.Injection{Prepare: func(ctx context.Context) error { return a.set.config.Intervene(ctx, info.Target) }}
	case e.Conflict != nil:
		return &request.Injection{Err: (&Status{Code: http.StatusConflict}).err(info)}
	case e.Latency != nil:
		return &request.Injection{Delay: a.delay(e.Latency)}
	case e.Reset != nil && e.Reset.AfterBytes > 0:
		return &request.Injection{MaxBytes: e.Reset.AfterBytes}
	case e.Reset != nil:
		return &request.Injection{Abort: true, AfterSuccess: e.Reset.AfterWrite}
	case e.Stale != nil:
		return &request.Injection{Context: func(ctx context.Context) context.Context { return stale.WithHold(ctx, a.hold) }}
	case e.Etcd != nil:
		return &request.Injection{Context: a.withFailure}
	case e.Compact != nil:
		return &request.Injection{Prepare: a.set.config.Compact}
	default:
		w := &watch{Active: a, effect: *e.Watch}
		return &request.Injection{Event: w.event}
	}
}

// delay returns the next delay of a distribution.
func (a *Active) delay(latency *Latency) time.Duration {
	spread := latency.UpTo.Duration - latency.Duration.Duration
	if spread <= 0 {
		return latency.Duration.Duration
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return latency.Duration.Duration + time.Duration(a.random.Int64N(int64(spread)+1))
}

// err returns the error of the response to a request. Without a reason and a message it equals
// the error of kube-apiserver.
func (s *Status) err(info *request.Info) error {
	status := defaultStatus(s.Code, info)
	status.Reason = cmp.Or(s.Reason, status.Reason)
	status.Message = cmp.Or(s.Message, status.Message)
	if s.RetryAfterSeconds > 0 {
		if status.Details == nil {
			status.Details = &metav1.StatusDetails{}
		}
		status.Details.RetryAfterSeconds = int32(s.RetryAfterSeconds)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func defaultStatus(code int, info *request.Info) metav1.Status {
	resource := schema.GroupResource{Group: info.Group, Resource: info.Resource}
	switch code {
	case http.StatusNotFound:
		return apierrors.NewNotFound(resource, info.Name).Status()
	case http.StatusConflict:
		return apierrors.NewConflict(resource, info.Name, errModified).Status()
	case http.StatusGone:
		return apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.").Status()
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequestsError("Too many requests, please try again later.").Status()
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(errors.New("a fault was injected")).Status()
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0).Status()
	}
	return apierrors.NewGenericServerResponse(code, info.Verb, resource, info.Name, "a fault was injected", 0, true).Status()
}

// watch disturbs one watch.
type watch struct {
	*Active
	effect Watch
	events int // that were sent, without bookmarks
}

var errExpired = apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")

// event is the Event function of an Injection.
func (w *watch) event(ctx context.Context, event request.WatchEvent) (send bool, err error) {
	if w.hasEnded() {
		return true, nil
	}
	if event.Bookmark && w.effect.NoBookmarks {
		return false, nil
	}
	if event.Initial {
		return true, nil
	}
	w.wait(ctx)
	if event.Bookmark {
		return true, nil
	}
	switch e := w.effect; {
	case reached(e.EndAfter, w.events):
		return false, io.EOF
	case reached(e.DropAfter, w.events):
		return false, http.ErrAbortHandler
	case reached(e.ExpireAfter, w.events):
		return false, errExpired
	}
	w.events++
	return true, nil
}

func reached(after *int, events int) bool { return after != nil && events >= *after }

// wait waits for the delay, or until the fault or ctx ends.
func (w *watch) wait(ctx context.Context) {
	var delay <-chan time.Time
	switch {
	case w.effect.Hold: // until the fault ends
	case w.effect.Delay.Duration > 0:
		timer := time.NewTimer(w.effect.Delay.Duration)
		defer timer.Stop()
		delay = timer.C
	default:
		return
	}
	select {
	case <-delay:
	case <-w.ended:
	case <-ctx.Done():
	}
}
