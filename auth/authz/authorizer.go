package authz

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/apis/apiserver"

	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/auth/node"
	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/auth/webhook"
	"github.com/miniapi/miniapi/internal/collectors"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// retiredTimeout is the time that requests in progress have to end after a reload.
const retiredTimeout = time.Minute

// Config configures the authorizers of a server.
type Config struct {
	// Selection must be valid.
	Selection
	// Store finds the stores of roles and bindings, and of the objects that nodes may read.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Features are the features of the Node authorizer.
	Features *feature.Set
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Logger takes warnings of the RBAC authorizer and reloads. Nil discards them.
	Logger *slog.Logger
}

// Authorizer is the chain of the selected authorizers, behind [Masters]. The chain changes with the
// file of the selection. It is safe for concurrent use.
type Authorizer struct {
	config Config
	chain  *certs.Reloaded[Chain]
	// fixed are the authorizers other than webhooks, by mode. They stay during reloads.
	fixed   map[string]registry.Authorizer
	rbac    *rbac.Authorizer // nil unless RBAC is selected
	dialer  *outgoing.Dialer // of webhooks
	metrics *webhook.Metrics // of webhooks
	// decisions counts the decisions of the authorizers of the selection.
	decisions *prometheus.CounterVec
	// webhooks are the webhooks of the present chain.
	webhooks []*webhook.Authorizer
}

var _ registry.Authorizer = (*Authorizer)(nil)

// New returns an Authorizer. It starts nothing.
func New(config Config) (*Authorizer, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	a := &Authorizer{
		config: config, fixed: map[string]registry.Authorizer{}, dialer: outgoing.NewDialer(config.Outgoing),
		metrics: webhook.NewMetrics(), decisions: newDecisions(),
	}
	initial, err := config.load()
	if err != nil {
		return nil, err
	}
	for _, mode := range typesOf(initial) {
		switch mode {
		case ModeAlwaysAllow:
			a.fixed[mode] = registry.AlwaysAllow{}
		case ModeAlwaysDeny:
			a.fixed[mode] = AlwaysDeny{}
		case ModeNode:
			a.fixed[mode] = node.New(node.Config{Store: config.Store, Features: config.Features})
		case ModeRBAC:
			a.rbac = rbac.New(rbac.Config{Store: config.Store, Logger: config.Logger})
			a.fixed[mode] = a.rbac
		}
	}
	var files []string
	if config.File != "" {
		files = append(files, config.File)
	}
	a.chain, err = certs.Reload(a.newChain, config.Logger, files...)
	return a, err
}

// newChain loads the configuration and returns its authorizers. As in kube-apiserver, a reload
// changes webhooks and the order of authorizers only.
func (a *Authorizer) newChain() (Chain, error) {
	config, err := a.config.load()
	if err != nil {
		return nil, err
	}
	types := typesOf(config)
	for _, mode := range knownModes {
		_, started := a.fixed[mode]
		switch {
		case started && !slices.Contains(types, mode):
			return nil, fmt.Errorf("missing required types: [%s]", mode)
		case !started && mode != ModeWebhook && slices.Contains(types, mode):
			return nil, fmt.Errorf("authorizer type %s is not allowed if it was not enabled at initial server startup", mode)
		}
	}
	webhooks, byName, err := newWebhooks(config, a.dialer, a.metrics)
	if err != nil {
		return nil, err
	}
	chain := Chain{{"system:masters", Masters{}}}
	for _, authorizer := range config.Authorizers {
		mode, name := string(authorizer.Type), authorizer.Name
		next := a.fixed[mode]
		if webhook, ok := byName[name]; ok {
			next = webhook
		}
		chain = append(chain, Named{name, a.counted(mode, name, next)})
	}
	retire(a.webhooks)
	a.webhooks = webhooks
	return chain, nil
}

// newWebhooks returns the webhooks of a configuration, also by the names of their authorizers.
func newWebhooks(
	config *apiserver.AuthorizationConfiguration, dialer *outgoing.Dialer, metrics *webhook.Metrics,
) ([]*webhook.Authorizer, map[string]*webhook.Authorizer, error) {
	if dialer == nil { // the webhooks are not called
		dialer = outgoing.NewDialer(nil)
	}
	var webhooks []*webhook.Authorizer
	byName := map[string]*webhook.Authorizer{}
	for _, authorizer := range config.Authorizers {
		if authorizer.Webhook == nil {
			continue
		}
		next, err := webhook.NewAuthorizer(webhook.AuthorizerConfig{
			Name: authorizer.Name, Webhook: *authorizer.Webhook, Dialer: dialer, Metrics: metrics,
		})
		if err != nil {
			return nil, nil, err
		}
		webhooks = append(webhooks, next)
		byName[authorizer.Name] = next
	}
	return webhooks, byName, nil
}

// retire closes the connections of replaced webhooks when the requests in progress have ended.
func retire(webhooks []*webhook.Authorizer) {
	if len(webhooks) == 0 {
		return
	}
	time.AfterFunc(retiredTimeout, func() {
		for _, old := range webhooks {
			old.CloseIdleConnections()
		}
	})
}

// Authorize implements registry.Authorizer.
func (a *Authorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	return a.chain.Get().Authorize(ctx, access)
}

// Rules implements registry.Authorizer.
func (a *Authorizer) Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (registry.RuleSet, error) {
	return a.chain.Get().Rules(ctx, user, namespace)
}

// Admission returns the admission plugins that belong to the modes: RBAC rejects escalation.
func (a *Authorizer) Admission() registry.Chain {
	if a.rbac == nil {
		return nil
	}
	return registry.Chain{a.rbac.Escalation(a)}
}

// Collector returns the metrics of the authorizers.
func (a *Authorizer) Collector() prometheus.Collector {
	return collectors.All{a.decisions, a.metrics}
}

// Reloads returns the metrics of the reloads of the file.
func (a *Authorizer) Reloads() prometheus.Collector { return a.chain.Collector("authorization") }

// Run keeps the roles and bindings of RBAC up to date until ctx ends, which is no error, and then
// closes the connections of webhooks.
func (a *Authorizer) Run(ctx context.Context) error {
	defer a.dialer.Close()
	if a.rbac != nil {
		return a.rbac.Run(ctx)
	}
	<-ctx.Done()
	return nil
}
