package webhook

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// Validating is the step that asks validating webhooks.
func (d *Dispatcher) Validating() registry.AdmissionStep {
	return registry.AdmissionStep{Name: "ValidatingAdmissionWebhook", Validate: d.validate}
}

// validate asks all webhooks at once. Of several that refuse, the first in
// their order is the answer.
func (d *Dispatcher) validate(ctx context.Context, attributes *registry.Attributes) error {
	request, hooks, err := hooksFor(ctx, d.validating, attributes)
	if err != nil || len(hooks) == 0 {
		return err
	}
	asked, err := questions(ctx, request, hooks)
	if err != nil || len(asked) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return outOfTime()
	}
	errs := make([]error, len(asked))
	var group sync.WaitGroup
	for i, one := range asked {
		group.Go(func() { errs[i] = d.validateBy(ctx, one.hook, one.question) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// asked is a webhook and what it is asked.
type asked struct {
	hook     *hook
	question *question
}

// questions are those for the webhooks that want to see a request.
func questions(ctx context.Context, r *match.Request, hooks []*hook) ([]asked, error) {
	var all []asked
	for _, h := range hooks {
		target, err := h.wants(ctx, r)
		if err != nil {
			return nil, err
		}
		if target == nil {
			continue
		}
		q, err := newQuestion(r, target)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		all = append(all, asked{h, q})
	}
	return all, nil
}

// validateBy asks one webhook. A panic is the end of the request, not of the
// process, as it is where requests are served.
func (d *Dispatcher) validateBy(ctx context.Context, h *hook, q *question) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = apierrors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", h.name, cause))
		}
	}()
	_, err = d.ask(ctx, h, q)
	return d.outcome(ctx, h, err)
}
