package authz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/auth/node"
	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/internal/suggest"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// The authorization modes, named as in kube-apiserver.
const (
	ModeAlwaysAllow = "AlwaysAllow"
	ModeAlwaysDeny  = "AlwaysDeny"
	ModeRBAC        = "RBAC"
	ModeNode        = "Node"
)

// Modes is a comma-separated list of authorization modes.
type Modes string

func (m Modes) list() []string { return strings.Split(string(m), ",") }

// Has reports whether the list contains a mode.
func (m Modes) Has(mode string) bool { return slices.Contains(m.list(), mode) }

// Validate returns the errors of all modes in the list, joined.
func (m Modes) Validate() error {
	var errs []error
	modes := m.list()
	for i, mode := range modes {
		switch mode {
		case ModeAlwaysAllow, ModeAlwaysDeny, ModeRBAC, ModeNode:
			if slices.Contains(modes[:i], mode) {
				errs = append(errs, fmt.Errorf("authorization mode %q occurs twice in %q: remove one", mode, m))
			}
		case "Webhook", "ABAC":
			errs = append(errs, fmt.Errorf("authorization mode %q is not supported: use %s, and grant rights by roles", mode, ModeRBAC))
		default:
			known := []string{ModeAlwaysAllow, ModeAlwaysDeny, ModeRBAC, ModeNode}
			errs = append(errs, fmt.Errorf("authorization mode %q is unknown: use %s or %s%s", mode, strings.Join(known[:3], ", "), known[3], suggest.DidYouMean(mode, known)))
		}
	}
	return errors.Join(errs...)
}

// Config selects the authorizers of a server.
type Config struct {
	// Modes must be valid.
	Modes Modes
	// Store finds the stores of roles and bindings, and of the objects that nodes may read.
	Store func(schema.GroupResource) (*registry.Store, bool)
	// Features are the features of the Node authorizer.
	Features *feature.Set
	// Logger takes warnings of the RBAC authorizer. Nil discards them.
	Logger *slog.Logger
}

// Authorizer is the chain of the configured modes, behind [Masters].
type Authorizer struct {
	Chain
	rbac *rbac.Authorizer // nil unless RBAC is configured
}

// New returns an Authorizer. It starts nothing.
func New(config Config) *Authorizer {
	a := &Authorizer{Chain: Chain{Masters{}}}
	for _, mode := range config.Modes.list() {
		switch mode {
		case ModeAlwaysAllow:
			a.Chain = append(a.Chain, registry.AlwaysAllow{})
		case ModeAlwaysDeny:
			a.Chain = append(a.Chain, AlwaysDeny{})
		case ModeNode:
			a.Chain = append(a.Chain, node.New(node.Config{Store: config.Store, Features: config.Features}))
		case ModeRBAC:
			a.rbac = rbac.New(rbac.Config{Store: config.Store, Logger: config.Logger})
			a.Chain = append(a.Chain, a.rbac)
		}
	}
	return a
}

// Admission returns the admission plugins that belong to the modes: RBAC rejects escalation.
func (a *Authorizer) Admission() registry.Chain {
	if a.rbac == nil {
		return nil
	}
	return registry.Chain{a.rbac.Escalation(a)}
}

// Run keeps the roles and bindings of RBAC up to date until ctx ends, which is no error.
func (a *Authorizer) Run(ctx context.Context) error {
	if a.rbac == nil {
		return nil
	}
	return a.rbac.Run(ctx)
}
