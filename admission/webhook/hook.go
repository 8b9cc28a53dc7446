package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/admission/expression"
	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/registry"
)

// hook is one webhook of a configuration.
//
// Invariant: it does not change.
type hook struct {
	configuration string
	name          string
	id            string // no other of the server has it
	criteria      *match.Criteria
	conditions    *expression.Conditions
	failOpen      bool
	// sideEffects is nil for one of an old version, which does not say.
	sideEffects *admissionregistrationv1.SideEffectClass
	timeout     time.Duration // 0: that of the request
	reviews     []string      // versions of AdmissionReview that it knows
	client      func() (*rest.RESTClient, error)
	// mutates is set for those that may change objects, again for those which
	// are asked again if others have changed something since.
	mutates, again bool
}

func (d *Dispatcher) newHook(configuration string, index int, w *admissionregistrationv1.ValidatingWebhook) *hook {
	failOpen := w.FailurePolicy != nil && *w.FailurePolicy == admissionregistrationv1.Ignore
	h := &hook{
		configuration: configuration,
		name:          w.Name,
		id:            fmt.Sprintf("%s/%d/%s", configuration, index, w.Name),
		criteria:      match.ForRules(w.Rules, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector),
		conditions:    expression.NewConditions(w.MatchConditions, expression.Compile{}, failOpen),
		failOpen:      failOpen,
		sideEffects:   w.SideEffects,
		reviews:       w.AdmissionReviewVersions,
		client: sync.OnceValues(func() (*rest.RESTClient, error) {
			return d.clients.Client(targetOf(w.ClientConfig), reviewSerializer())
		}),
	}
	if w.TimeoutSeconds != nil {
		h.timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	return h
}

// wants returns what to show a request in, nil if the webhook does not want to
// see it.
func (h *hook) wants(ctx context.Context, r *match.Request) (*match.Target, error) {
	target, err := h.criteria.Match(ctx, r)
	if err != nil || target == nil || h.conditions == nil {
		return target, err
	}
	input, err := expression.NewInput(r, target, registry.UserFrom(ctx))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	matches, err := h.conditions.Match(ctx, input)
	switch {
	case err != nil:
		return nil, apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, err)
	case !matches:
		return nil, nil
	}
	return target, nil
}
