package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// Validating returns the step that calls validating webhooks.
func (d *Dispatcher) Validating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ValidatingAdmissionWebhook", Validate: d.validate}
}

// validate calls all webhooks concurrently. If several of them deny the request, the error of
// the first in order is returned.
func (d *Dispatcher) validate(ctx context.Context, attributes *registry.Attributes) error {
	request, hooks, err := d.hooksFor(ctx, d.validating, attributes)
	if err != nil || len(hooks) == 0 {
		return err
	}
	calls, err := callsFor(ctx, request, hooks)
	if err != nil || len(calls) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return timeout()
	}
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for i, c := range calls {
		group.Go(func() { errs[i] = d.callValidating(ctx, c, attributes.Operation) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// call is a webhook to call and the review to send.
type call struct {
	hook   *hook
	review *review
}

// callsFor returns the calls of the webhooks that match a request.
func callsFor(ctx context.Context, r *match.Request, hooks []*hook) ([]call, error) {
	var calls []call
	for _, h := range hooks {
		target, err := h.match(ctx, r)
		if err != nil {
			return nil, err
		}
		if target == nil {
			continue
		}
		review, err := newReview(r, target)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		calls = append(calls, call{h, review})
	}
	return calls, nil
}

// callValidating calls one webhook. It turns a panic into an error, because it runs outside of
// the goroutine whose panics the HTTP server recovers.
func (d *Dispatcher) callValidating(ctx context.Context, c call, operation registry.Operation) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = apierrors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", c.hook.name, cause))
		}
	}()
	started := time.Now()
	_, err = d.call(ctx, c.hook, c.review)
	d.observe(c.hook, operation, time.Since(started), err)
	return d.outcome(ctx, c.hook, err)
}
