package webhook

import (
	"cmp"
	"context"
	"log/slog"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/match"
	"github.com/miniapi/miniapi/admission/metrics"
	"github.com/miniapi/miniapi/admission/source"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
)

// Config configures a Dispatcher.
type Config struct {
	// Store returns the stores of the configurations, see informer.Config.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Resolve returns the host:port of a port of a Service. Nil: only webhooks with URLs can be
	// called.
	Resolve webhooks.ResolveFunc
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Mutating and Validating are the credentials for the webhooks of these kinds. Nil: none.
	Mutating, Validating webhooks.Credentials
	// ExcludeReviews excludes the reviews of authentication and authorization from webhooks.
	ExcludeReviews bool
	// Metrics observes the calls. Nil: they are not observed.
	Metrics *metrics.Metrics
	// Logger logs failed webhooks. Nil: no logs.
	Logger *slog.Logger
}

// Dispatcher calls admission webhooks. It is safe for concurrent use.
type Dispatcher struct {
	log        *slog.Logger
	metrics    *metrics.Metrics
	mutating   *source.Source[[]*hook]
	validating *source.Source[[]*hook]
	// mutatingClients and validatingClients are the same without credentials.
	mutatingClients, validatingClients *webhooks.Clients
	// excludeReviews is Config.ExcludeReviews.
	excludeReviews bool
}

// New returns a dispatcher. It starts no goroutine. Close closes its connections.
func New(config Config) *Dispatcher {
	d := &Dispatcher{
		log:     cmp.Or(config.Logger, slog.New(slog.DiscardHandler)),
		metrics: cmp.Or(config.Metrics, metrics.New()),

		mutatingClients: webhooks.NewClients(config.Resolve, config.Outgoing, config.Mutating),
		excludeReviews:  config.ExcludeReviews,
	}
	d.validatingClients = d.mutatingClients
	if config.Mutating != nil || config.Validating != nil {
		d.validatingClients = webhooks.NewClients(config.Resolve, config.Outgoing, config.Validating)
	}
	d.mutating = source.New(config.informer("mutatingwebhookconfigurations"), d.mutatingHooks)
	d.validating = source.New(config.informer("validatingwebhookconfigurations"), d.validatingHooks)
	return d
}

func (c Config) informer(resource string) informer.Config {
	return informer.Config{Resource: admissionregistrationv1.Resource(resource), Lookup: c.Store, Logger: c.Logger}
}

// Run watches the configurations until ctx ends, and returns nil then.
func (d *Dispatcher) Run(ctx context.Context) error {
	return informer.RunAll(ctx, d.mutating, d.validating)
}

// Close closes all connections. No webhook may be called afterwards.
func (d *Dispatcher) Close() {
	d.mutatingClients.Close()
	d.validatingClients.Close()
}

// hooksFor returns the request and the webhooks of all configurations, in order. Both are nil
// without configurations and for requests that are exempt from webhooks.
func (d *Dispatcher) hooksFor(ctx context.Context, from *source.Source[[]*hook], a *registry.Attributes) (*match.Request, []*hook, error) {
	if d.excludeReviews && isReview(a.Resource) {
		return nil, nil, nil
	}
	configurations, err := from.Current(ctx)
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

func isReview(r *registry.Resource) bool {
	return r.Virtual != nil && (r.Group == "authentication.k8s.io" || r.Group == "authorization.k8s.io")
}

func (d *Dispatcher) mutatingHooks(obj runtime.Object) []*hook {
	configuration := obj.(*admissionregistrationv1.MutatingWebhookConfiguration)
	hooks := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		hooks[i] = newHook(d.mutatingClients, configuration.Name, i, validatingWebhook(w))
		hooks[i].mutates = true
		hooks[i].reinvocable = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy
	}
	return hooks
}

func (d *Dispatcher) validatingHooks(obj runtime.Object) []*hook {
	configuration := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration)
	hooks := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		hooks[i] = newHook(d.validatingClients, configuration.Name, i, &configuration.Webhooks[i])
	}
	return hooks
}

// validatingWebhook returns the fields that both kinds of webhooks have.
func validatingWebhook(w *admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.ValidatingWebhook {
	return &admissionregistrationv1.ValidatingWebhook{
		Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules,
		FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
		SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
		AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
	}
}
