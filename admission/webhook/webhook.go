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
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

// hook is one webhook of a configuration.
//
// Invariant: it is immutable.
type hook struct {
	configuration string
	name          string
	id            string // unique in the server
	criteria      *match.Criteria
	conditions    *expression.Conditions
	failOpen      bool
	// sideEffects can be nil in configurations of API versions before v1.
	sideEffects *admissionregistrationv1.SideEffectClass
	timeout     time.Duration // 0: only the timeout of the request
	reviews     []string      // the versions of AdmissionReview that it accepts
	client      func() (*rest.RESTClient, error)
	// mutates is set for webhooks that may change objects, reinvocable for those with
	// reinvocation policy IfNeeded.
	mutates, reinvocable bool
}

func newHook(clients *webhooks.Clients, configuration string, index int, w *admissionregistrationv1.ValidatingWebhook) *hook {
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
			return clients.Client(targetOf(w.ClientConfig), reviewSerializer())
		}),
	}
	if w.TimeoutSeconds != nil {
		h.timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	return h
}

// match returns the target to show the request in, nil if the webhook is not called.
func (h *hook) match(ctx context.Context, r *match.Request) (*match.Target, error) {
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
		return nil, apierrors.NewForbidden(r.Target.Resource.GroupResource(), r.Name, err)
	case !matches:
		return nil, nil
	}
	return target, nil
}
