package webhook

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	if err != nil {
		return err
	}
	type asked struct {
		hook     *hook
		question *question
	}
	var all []asked
	for _, h := range hooks {
		target, err := h.wants(ctx, request)
		if err != nil {
			return err
		}
		if target == nil {
			continue
		}
		q, err := newQuestion(request, target)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		all = append(all, asked{h, q})
	}
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, one := range all {
		group.Go(func() {
			_, err := d.ask(ctx, one.hook, one.question)
			errs[i] = d.outcome(ctx, one.hook, err)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
