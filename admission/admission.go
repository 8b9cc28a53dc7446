package admission

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/metrics"
	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/admission/policy"
	"github.com/miniapi/miniapi/admission/webhook"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Config selects the plugins of a server and connects policies and webhooks to it.
type Config struct {
	// Enable and Disable name plugins as for kube-apiserver; see [plugin.Config].
	Enable, Disable []string
	// ControlConfigFile has the configurations of plugins; see [plugin.Config].
	ControlConfigFile string
	// Store finds the stores of policies, webhook configurations and namespaces.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Resolve finds the Services of webhooks.
	Resolve webhooks.ResolveFunc
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Features decides which rules the plugins have, and whether webhooks are called for reviews.
	Features *feature.Set
	// Sync blocks until the catalog serves every kind that was defined before the call.
	Sync   func(ctx context.Context)
	Logger *slog.Logger
}

// Validate returns the errors of the names and configurations of plugins, joined.
func (c Config) Validate() error { return c.plugins().Validate() }

func (c Config) plugins() plugin.Config {
	return plugin.Config{Enable: c.Enable, Disable: c.Disable, ControlConfigFile: c.ControlConfigFile, Features: c.Features}
}

// Admission is the admission control of one server. Safe for concurrent use.
type Admission struct {
	config   Config
	policies *policy.Policies
	webhooks *webhook.Dispatcher
	metrics  *metrics.Metrics
}

// New loads the credentials for webhooks and returns an Admission. It starts nothing. The caller
// must call Close.
func New(config Config) (*Admission, error) {
	credentials, err := config.plugins().WebhookCredentials()
	if err != nil {
		return nil, err
	}
	observed := metrics.New()
	return &Admission{
		config: config, metrics: observed,
		policies: policy.New(policy.Config{
			Store: config.Store, Logger: config.Logger.With("component", "policies"), Sync: config.Sync,
		}),
		webhooks: webhook.New(webhook.Config{
			Store: config.Store, Resolve: config.Resolve, Outgoing: config.Outgoing, Logger: config.Logger.With("component", "webhooks"),
			ExcludeReviews: config.Features.Enabled(feature.ExcludeAdmissionWebhookVirtualResources),
			Metrics:        observed,
			Mutating:       credentials.Mutating,
			Validating:     credentials.Validating,
		}),
	}, nil
}

// Chain returns all plugins in the order of kube-apiserver. It warns of enabled plugins that the
// server does not have, such as ImagePolicyWebhook, and of configurations that it ignores.
func (a *Admission) Chain() (registry.Chain, error) {
	config := a.config.plugins()
	config.Mutating = registry.Chain{a.policies.Mutating(), a.webhooks.Mutating()}
	config.Validating = registry.Chain{a.policies.Validating(), a.webhooks.Validating()}
	if names := config.NotImplemented(); len(names) > 0 {
		a.config.Logger.Warn("enabled admission plugins are not implemented and have no effect", "component", "admission", "plugins", names)
	}
	ignored, err := config.IgnoredConfigurations()
	if err != nil {
		return nil, err
	}
	if len(ignored) > 0 {
		a.config.Logger.Warn("the staticManifestsDir of admission plugins is not implemented and has no effect", "component", "admission", "plugins", ignored)
	}
	chain, err := plugin.Default(config)
	return a.metrics.Plugins(chain), err
}

// Metrics returns the metrics of the plugins and webhooks, which observe the chain too.
func (a *Admission) Metrics() *metrics.Metrics { return a.metrics }

// Hooks returns the hooks of the resources that hold policies.
func (a *Admission) Hooks() map[schema.GroupResource]registry.Hooks { return a.policies.Hooks() }

// Run keeps the policies and webhook configurations up to date until ctx ends, which is no error.
func (a *Admission) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.policies.Run(ctx) })
	group.Go(func() error { return a.webhooks.Run(ctx) })
	return group.Wait()
}

// Close closes the connections to webhooks.
func (a *Admission) Close() { a.webhooks.Close() }
