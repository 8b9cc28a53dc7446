package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/admission/metrics"
	"github.com/miniapi/miniapi/registry"
)

// callError is the reason why a webhook gave no valid response. The failure policy of the
// webhook decides about the request.
type callError struct {
	webhook string
	reason  error
	code    int // the status code in metrics
}

func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.webhook, e.reason)
}

func (e *callError) Unwrap() error { return e.reason }

func (h *hook) failed(code int, text string, reason error) error {
	return &callError{webhook: h.name, code: code, reason: fmt.Errorf(text+": %w", reason)}
}

// outcome applies the failure policy to the error of a webhook. It returns the error for the
// client, nil if the failure is ignored.
func (d *Dispatcher) outcome(ctx context.Context, h *hook, err error) error {
	var denied *denial
	if errors.As(err, &denied) {
		return denied.StatusError
	}
	var failed *callError
	if !errors.As(err, &failed) {
		return err
	}
	d.log.WarnContext(ctx, "webhook failed", "configuration", h.configuration, "webhook", h.name, "ignored", h.failOpen, "error", failed.reason)
	switch {
	case !h.failOpen:
		return apierrors.NewInternalError(failed)
	case ctx.Err() != nil:
		return timeout()
	}
	return nil
}

func timeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}

// observe observes a call and its error. The code of a call without an error is 200, as in
// kube-apiserver.
func (d *Dispatcher) observe(h *hook, operation registry.Operation, took time.Duration, err error) {
	call := metrics.WebhookCall{Name: h.name, Mutating: h.mutates, Operation: operation, Took: took}
	var denied *denial
	var failed *callError
	switch {
	case err == nil:
		call.Code = http.StatusOK
	case errors.As(err, &denied):
		call.Code, call.Rejection = int(denied.ErrStatus.Code), metrics.Denied
	case errors.As(err, &failed):
		call.Code, call.Canceled, call.FailedOpen = failed.code, errors.Is(failed.reason, context.Canceled), h.failOpen
		if !h.failOpen {
			call.Rejection = metrics.CallFailed
		}
	default:
		call.Rejection = metrics.InternalError
	}
	d.metrics.ObserveWebhook(call)
}

// codeOf returns the status code of the error of a call, 503 if there was no answer.
func codeOf(err error) int {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return int(status.ErrStatus.Code)
	}
	return http.StatusServiceUnavailable
}

// denial is the error of a request that a webhook denied.
type denial struct{ *apierrors.StatusError }

// denied returns the error of a request that a webhook denied.
func (h *hook) denied(result *metav1.Status) error {
	status := metav1.Status{}
	if result != nil {
		status = *result
	}
	status.Code = max(status.Code, http.StatusBadRequest)
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	reason := cmp.Or(status.Message, string(status.Reason))
	status.Message = fmt.Sprintf("admission webhook %q denied the request", h.name)
	if reason == "" {
		status.Message += " without explanation"
	} else {
		status.Message += ": " + reason
	}
	return &denial{&apierrors.StatusError{ErrStatus: status}}
}
