package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// callError is the reason why a webhook gave no valid response. The failure policy of the
// webhook decides about the request.
type callError struct {
	webhook string
	reason  error
}

func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.webhook, e.reason)
}

func (e *callError) Unwrap() error { return e.reason }

func (h *hook) failed(text string, reason error) error {
	return &callError{webhook: h.name, reason: fmt.Errorf(text+": %w", reason)}
}

// outcome applies the failure policy to the error of a webhook. It returns the error for the
// client, nil if the failure is ignored.
func (d *Dispatcher) outcome(ctx context.Context, h *hook, err error) error {
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
	return &apierrors.StatusError{ErrStatus: status}
}
