package webhook

import (
	"cmp"
	"context"
	"log/slog"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/admission/source"
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

// Config of a dispatcher. The zero value is usable.
type Config struct {
	// Resolve returns the host:port at which a port of a Service can be reached;
	// nil is for webhooks with URLs only.
	Resolve webhooks.ResolveFunc
	// Logger says which webhooks failed. Nil: nobody does.
	Logger *slog.Logger
}

// Dispatcher asks webhooks. Safe for concurrent use.
type Dispatcher struct {
	log        *slog.Logger
	clients    *webhooks.Clients
	mutating   *source.Source[[]*hook]
	validating *source.Source[[]*hook]
}

// New returns a dispatcher. It starts nothing; its connections are closed by
// Close.
func New(config Config) *Dispatcher {
	d := &Dispatcher{
		log:     cmp.Or(config.Logger, slog.New(slog.DiscardHandler)),
		clients: webhooks.NewClients(config.Resolve),
	}
	d.mutating = source.New(admissionregistrationv1.Resource("mutatingwebhookconfigurations"), d.mutatingHooks)
	d.validating = source.New(admissionregistrationv1.Resource("validatingwebhookconfigurations"), d.validatingHooks)
	return d
}

// Close ends all connections. No webhook may be asked afterwards.
func (d *Dispatcher) Close() { d.clients.Close() }

// hooksFor returns a write as webhooks see it, and those there are; none for
// what is no business of theirs.
func hooksFor(ctx context.Context, from *source.Source[[]*hook], a *registry.Attributes) (*match.Request, []*hook, error) {
	configurations, err := from.Current(ctx, a.Store)
	if err != nil || len(configurations) == 0 {
		return nil, nil, err
	}
	request, ok := match.NewRequest(a)
	if !ok {
		return nil, nil, nil
	}
	var hooks []*hook
	for _, configuration := range configurations {
		hooks = append(hooks, configuration...)
	}
	return request, hooks, nil
}

func (d *Dispatcher) mutatingHooks(obj runtime.Object) []*hook {
	configuration := obj.(*admissionregistrationv1.MutatingWebhookConfiguration)
	hooks := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		hooks[i] = d.newHook(configuration.Name, i, validatingWebhook(w))
		hooks[i].mutates = true
		hooks[i].again = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy
	}
	return hooks
}

func (d *Dispatcher) validatingHooks(obj runtime.Object) []*hook {
	configuration := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration)
	hooks := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		hooks[i] = d.newHook(configuration.Name, i, &configuration.Webhooks[i])
	}
	return hooks
}

// validatingWebhook returns what both kinds of webhooks have in common.
func validatingWebhook(w *admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.ValidatingWebhook {
	return &admissionregistrationv1.ValidatingWebhook{
		Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules,
		FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
		SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
		AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
	}
}
