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

// Authorizer makes authorization decisions. Implementations are safe for concurrent use.
type Authorizer interface {
	Authorize(ctx context.Context, attributes Access) (Decision, error)
	// Rules returns the rules of a user in a namespace, for SelfSubjectRulesReview.
	Rules(ctx context.Context, user *authenticationv1.UserInfo, namespace string) (RuleSet, error)
}

// Access is one request to authorize. Exactly one of Resource and NonResource is set.
type Access struct {
	User        *authenticationv1.UserInfo
	Resource    *authorizationv1.ResourceAttributes
	NonResource *authorizationv1.NonResourceAttributes
}

// Decision is an authorization decision. Neither allowed nor denied is no opinion.
type Decision struct {
	Allowed, Denied bool
	Reason          string
}

// RuleSet lists the requests that a user is allowed to make.
type RuleSet struct {
	Resource    []authorizationv1.ResourceRule
	NonResource []authorizationv1.NonResourceRule
	Incomplete  bool
}

// AlwaysAllow allows every request.
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

// Authorize returns nil if the authorizer allows the access, the 403 of kube-apiserver if it does
// not, and a 500 if it cannot decide.
func Authorize(ctx context.Context, authorizer Authorizer, access Access) error {
	decision, err := authorizer.Authorize(ctx, access)
	return access.Rejection(decision, err)
}

// Rejection returns the error for the answer of an authorizer, nil if it allows the access.
func (a Access) Rejection(decision Decision, err error) error {
	switch {
	case decision.Allowed:
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	text := htmlEscaper.Replace(a.denial())
	if decision.Reason != "" {
		text += ": " + decision.Reason
	}
	var resource schema.GroupResource
	name := ""
	if a.Resource != nil {
		resource = schema.GroupResource{Group: a.Resource.Group, Resource: a.Resource.Resource}
		name = a.Resource.Name
	}
	return apierrors.NewForbidden(resource, name, errors.New(text))
}

// htmlEscaper escapes text of a client, as kube-apiserver does.
var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// denial returns the text of kube-apiserver for a denied access.
func (a Access) denial() string {
	user := ""
	if a.User != nil {
		user = a.User.Username
	}
	attributes := a.Resource
	if attributes == nil {
		return fmt.Sprintf("User %q cannot %s path %q", user, a.NonResource.Verb, a.NonResource.Path)
	}
	resource := attributes.Resource
	if attributes.Subresource != "" {
		resource += "/" + attributes.Subresource
	}
	where := "at the cluster scope"
	if attributes.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", attributes.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", user, attributes.Verb, resource, attributes.Group, where)
}
