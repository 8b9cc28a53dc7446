package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Authorizer decides whether a user may do something. Implementations are safe
// for concurrent use.
type Authorizer interface {
	Authorize(ctx context.Context, attributes Access) (Decision, error)
	// Rules lists what a user may do in a namespace, for
	// SelfSubjectRulesReview; incomplete tells that there may be more.
	Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (RuleSet, error)
}

// Access is one request to be decided. Exactly one of Resource and NonResource
// is set.
type Access struct {
	User        *authenticationv1.UserInfo
	Resource    *authorizationv1.ResourceAttributes
	NonResource *authorizationv1.NonResourceAttributes
}

// Decision is what an authorizer came to. Not allowed and not denied is no
// opinion.
type Decision struct {
	Allowed, Denied bool
	Reason          string
}

// RuleSet is what a user may do.
type RuleSet struct {
	Resource    []authorizationv1.ResourceRule
	NonResource []authorizationv1.NonResourceRule
	Incomplete  bool
}

// AlwaysAllow allows everything.
type AlwaysAllow struct{}

var _ Authorizer = AlwaysAllow{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(context.Context, Access) (Decision, error) {
	return Decision{Allowed: true}, nil
}

// Rules implements Authorizer.
func (AlwaysAllow) Rules(context.Context, *authenticationv1.UserInfo, string) (RuleSet, error) {
	return RuleSet{
		Resource:    []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
		NonResource: []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
	}, nil
}

// Authorize returns nil if the authorizer allows the access, the 403 of
// kube-apiserver if it does not, and a 500 if it cannot decide.
func Authorize(ctx context.Context, authorizer Authorizer, access Access) error {
	decision, err := authorizer.Authorize(ctx, access)
	switch {
	case decision.Allowed:
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	text := htmlEscaper.Replace(access.denial())
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

// htmlEscaper keeps what a client sent from looking like HTML.
var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// denial is kube-apiserver's text about an access that is not allowed.
func (a Access) denial() string {
	user := ""
	if a.User != nil {
		user = a.User.Username
	}
	wanted := a.Resource
	if wanted == nil {
		return fmt.Sprintf("User %q cannot %s path %q", user, a.NonResource.Verb, a.NonResource.Path)
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
