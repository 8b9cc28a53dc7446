package miniapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/registry"
)

// AuthorizationMode says who may do what: one of the modes below, or several
// with commas between them, such as "Node,RBAC". They are asked in this order,
// and the first that allows decides. Members of system:masters may do
// everything in every mode.
type AuthorizationMode string

const (
	// AlwaysAllow lets every user do everything.
	AlwaysAllow AuthorizationMode = "AlwaysAllow"
	// AlwaysDeny allows nothing. Another mode may.
	AlwaysDeny AuthorizationMode = "AlwaysDeny"
	// RBAC decides by Roles, ClusterRoles and their bindings. The roles that
	// suites rely on, such as cluster-admin, admin, edit and view, exist from
	// the start.
	RBAC AuthorizationMode = "RBAC"
	// Node is accepted for command lines written for kube-apiserver, and allows
	// nothing: which objects the pods of a node need is not followed. Nodes may
	// do what roles bound to the group system:nodes allow.
	Node AuthorizationMode = "Node"
)

// modes of the list, in its order.
func (m AuthorizationMode) modes() []AuthorizationMode {
	var modes []AuthorizationMode
	for name := range strings.SplitSeq(string(m), ",") {
		modes = append(modes, AuthorizationMode(name))
	}
	return modes
}

func (m AuthorizationMode) has(mode AuthorizationMode) bool {
	return slices.Contains(m.modes(), mode)
}

func (m AuthorizationMode) validate() error {
	var errs []error
	modes := m.modes()
	for i, mode := range modes {
		switch mode {
		case AlwaysAllow, AlwaysDeny, RBAC, Node:
			if slices.Contains(modes[:i], mode) {
				errs = append(errs, fmt.Errorf("authorization mode %q is named twice in %q", mode, m))
			}
		case "Webhook", "ABAC":
			errs = append(errs, fmt.Errorf("authorization mode %q is kube-apiserver's alone: here users can be given rights by %s", mode, RBAC))
		default:
			errs = append(errs, fmt.Errorf("authorization mode %q is none of %s, %s, %s and %s", mode, AlwaysAllow, AlwaysDeny, RBAC, Node))
		}
	}
	return errors.Join(errs...)
}

// storeFunc finds the store of a resource.
type storeFunc func(schema.GroupResource) (*registry.Store, bool)

// storeOf is for what is made before the catalog and works when that is there.
func (s *Server) storeOf(resource schema.GroupResource) (*registry.Store, bool) {
	return s.catalog.Snapshot().Store(resource)
}

// accessControl fills in who decides on access and on writes, and who knows
// tokens.
func (s *Server) accessControl(config *registry.CatalogConfig) {
	steps := s.config.admission()
	steps.Mutating = registry.Chain{s.policies.Mutating(), s.webhooks.Mutating()}
	steps.Validating = registry.Chain{s.policies.Validating(), s.webhooks.Validating()}
	config.Admission = plugin.Default(steps)
	config.Authorizer = s.authorizer()
	if s.rbac != nil {
		config.Admission = append(config.Admission, s.rbac.Escalation(config.Authorizer))
	}
	if s.secure != nil {
		config.Tokens = s.secure.tokens()
	}
}

// authorizer asks the configured modes in order.
func (s *Server) authorizer() registry.Authorizer {
	chain := authz.Chain{authz.Masters{}}
	for _, mode := range s.config.Authorization.modes() {
		switch mode {
		case AlwaysAllow:
			chain = append(chain, registry.AlwaysAllow{})
		case AlwaysDeny:
			chain = append(chain, authz.AlwaysDeny{})
		case Node:
			chain = append(chain, authz.Node{})
		case RBAC:
			s.rbac = rbac.New(rbac.Config{Store: s.storeOf, Logger: s.config.Logger.With("component", "rbac")})
			chain = append(chain, s.rbac)
		}
	}
	return chain
}

// authenticator finds out who makes a request; nil: everybody is the administrator.
// Where everybody may do everything, nobody is let in without a name.
func (s *Server) authenticator() filters.Authenticator {
	if s.secure == nil {
		return nil
	}
	return s.secure.authenticate(!s.config.Secure.RejectAnonymous && !s.config.Authorization.has(AlwaysAllow))
}
