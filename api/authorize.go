package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// authorizeRequests asks whether the user may do what the request wants; if
// not, that is a 403, whether there is such a resource or not.
func (s *Server) authorizeRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.authorize(r.Context(), accessOf(r)); err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorize returns why an access is not allowed. That the authorizer cannot
// tell is a 500.
func (s *Server) authorize(ctx context.Context, access registry.Access) error {
	decision, err := s.config.Catalog.Authorizer().Authorize(ctx, access)
	switch {
	case err != nil:
		return apierrors.NewInternalError(err)
	case decision.Allowed:
		return nil
	}
	text := markup.Replace(denial(access))
	if decision.Reason != "" {
		text += ": " + decision.Reason
	}
	var resource schema.GroupResource
	name := ""
	if access.Resource != nil {
		resource = schema.GroupResource{Group: access.Resource.Group, Resource: access.Resource.Resource}
		name = access.Resource.Name
	}
	return apierrors.NewForbidden(resource, name, errors.New(text))
}

// markup keeps what a client sent from looking like HTML.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func denial(access registry.Access) string {
	user := ""
	if access.User != nil {
		user = access.User.Username
	}
	wanted := access.Resource
	if wanted == nil {
		return fmt.Sprintf("User %q cannot %s path %q", user, access.NonResource.Verb, access.NonResource.Path)
	}
	resource := wanted.Resource
	if wanted.Subresource != "" {
		resource += "/" + wanted.Subresource
	}
	where := "at the cluster scope"
	if wanted.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", wanted.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user, wanted.Verb, resource, wanted.Group, where)
}
