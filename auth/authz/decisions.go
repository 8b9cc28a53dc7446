package authz

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/registry"
)

// newDecisions returns the metric of decisions, under the name of kube-apiserver.
func newDecisions() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "apiserver_authorization_decisions_total",
		Help: "Requests that an authorizer allowed or denied, by type and name of the authorizer.",
	}, []string{"type", "name", "decision"})
}

// countedAuthorizer counts the decisions of an authorizer. No opinion is no decision.
type countedAuthorizer struct {
	registry.Authorizer
	allowed, denied prometheus.Counter
}

func (a *Authorizer) counted(mode, name string, authorizer registry.Authorizer) registry.Authorizer {
	return countedAuthorizer{
		authorizer, a.decisions.WithLabelValues(mode, name, "allowed"), a.decisions.WithLabelValues(mode, name, "denied"),
	}
}

// Authorize implements registry.Authorizer.
func (c countedAuthorizer) Authorize(ctx context.Context, access registry.Access) (registry.Decision, error) {
	decision, err := c.Authorizer.Authorize(ctx, access)
	switch {
	case decision.Allowed:
		c.allowed.Inc()
	case decision.Denied:
		c.denied.Inc()
	}
	return decision, err
}
