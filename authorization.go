package miniapi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/admission"
)

// AuthorizationMode says who may do what.
type AuthorizationMode string

const (
	// AlwaysAllow lets every user do everything.
	AlwaysAllow AuthorizationMode = "AlwaysAllow"
	// RBAC decides by Roles, ClusterRoles and their bindings. The roles that
	// suites rely on, such as cluster-admin, admin, edit and view, exist from
	// the start.
	RBAC AuthorizationMode = "RBAC"
)

func validateAuthorization(mode AuthorizationMode) error {
	if mode != AlwaysAllow && mode != RBAC {
		return fmt.Errorf("authorization mode %q is neither %q nor %q", mode, AlwaysAllow, RBAC)
	}
	return nil
}

// storeFunc finds the store of a resource.
type storeFunc func(schema.GroupResource) (*registry.Store, bool)

// storeOf is for what is made before the catalog and works when that is there.
func (s *Server) storeOf(resource schema.GroupResource) (*registry.Store, bool) {
	return s.catalog.Snapshot().Store(resource)
}

// accessControl fills in who decides on access, and who knows tokens.
func (s *Server) accessControl(config *registry.CatalogConfig) {
	config.Admission = registry.Chain{admission.NamespaceLifecycle()}
	if s.config.Authorization == RBAC {
		s.rbac = rbac.New(rbac.Config{Store: s.storeOf, Logger: s.config.Logger.With("component", "rbac")})
		config.Authorizer = s.rbac
		config.Admission = append(config.Admission, s.rbac.Escalation())
	}
	if s.secure != nil {
		config.Tokens = s.secure.tokens()
	}
}

// userFunc finds out who makes a request; nil: everybody is the administrator.
// Where everybody may do everything, nobody is let in without a name.
func (s *Server) userFunc() api.UserFunc {
	if s.secure == nil {
		return nil
	}
	return s.secure.authenticate(!s.config.Secure.RejectAnonymous && s.config.Authorization != AlwaysAllow)
}
