package filters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

const (
	nodeNameExtra       = "authentication.kubernetes.io/node-name"
	associatedNodeExtra = "authentication.kubernetes.io/associated-node-keys"
)

// impersonationMode is a kind of impersonation with verbs of its own. The user of the request needs
// impersonate:MODE for the impersonated user, and impersonate-on:MODE:VERB for the request.
type impersonationMode struct {
	name string
	// applies reports whether a user can impersonate another one in this mode.
	applies func(user, impersonated *authenticationv1.UserInfo) bool
	// anyNode grants the impersonation of all nodes at once, to users that are on the node.
	anyNode bool
}

// impersonationModes are tried in order, before the verb impersonate.
var impersonationModes = []impersonationMode{
	{name: "associated-node", applies: isOnNode, anyNode: true},
	{name: "arbitrary-node", applies: func(_, impersonated *authenticationv1.UserInfo) bool {
		_, ok := nodeOf(impersonated.Username)
		return ok && hasOnlyName(impersonated)
	}},
	{name: "serviceaccount", applies: func(_, impersonated *authenticationv1.UserInfo) bool {
		_, _, ok := splitServiceAccount(impersonated.Username)
		return ok && hasOnlyName(impersonated)
	}},
	{name: "user-info", applies: func(_, impersonated *authenticationv1.UserInfo) bool {
		_, isNode := nodeOf(impersonated.Username)
		_, _, isAccount := splitServiceAccount(impersonated.Username)
		return !isNode && !isAccount
	}},
}

// authorizeConstrained authorizes the impersonation for a request in one of the modes, or else by
// the verb impersonate, which is the mode "legacy". It returns the mode, or the first error.
func authorizeConstrained(ctx context.Context, authorizer registry.Authorizer, access registry.Access, impersonated *authenticationv1.UserInfo) (string, error) {
	var first error
	for _, mode := range impersonationModes {
		if access.User == nil || !mode.applies(access.User, impersonated) {
			continue
		}
		err := mode.authorize(ctx, authorizer, access, impersonated)
		if err == nil {
			if _, ok := nodeOf(impersonated.Username); ok {
				impersonated.Groups = []string{"system:nodes"}
			}
			request.AuditFrom(ctx).SetImpersonationConstraint(mode.verb())
			return mode.name, nil
		}
		if first == nil {
			first = err
		}
	}
	err := authorizeParts(ctx, authorizer, access.User, impersonationParts(impersonated, "impersonate", ""))
	if err != nil && first != nil {
		err = first
	}
	return "legacy", err
}

// verb returns the verb of an impersonation in the mode.
func (m impersonationMode) verb() string { return "impersonate:" + m.name }

func (m impersonationMode) authorize(ctx context.Context, authorizer registry.Authorizer, access registry.Access, impersonated *authenticationv1.UserInfo) error {
	user := access.User
	if m.anyNode {
		user = withoutExtra(user)
	}
	if err := registry.Authorize(ctx, authorizer, m.on(access, user)); err != nil {
		return err
	}
	verb := m.verb()
	parts := impersonationParts(&authenticationv1.UserInfo{Username: impersonated.Username, UID: impersonated.UID}, verb, authenticationv1.GroupName)
	if node, ok := nodeOf(impersonated.Username); ok {
		parts[0].Resource, parts[0].Name = "nodes", node
	}
	if m.anyNode {
		parts[0].Name = "*"
	}
	if err := authorizeParts(ctx, authorizer, user, parts); err != nil {
		return err
	}
	groups := &authenticationv1.UserInfo{Groups: impersonated.Groups}
	extra := &authenticationv1.UserInfo{Extra: impersonated.Extra}
	for _, part := range []*authenticationv1.UserInfo{groups, extra} {
		// The first part is the name.
		if err := authorizeValues(ctx, authorizer, user, impersonationParts(part, verb, authenticationv1.GroupName)[1:]); err != nil {
			return err
		}
	}
	return nil
}

// authorizeValues authorizes groups or extra values. For many values, the permission for all of
// them, *, is checked first.
func authorizeValues(ctx context.Context, authorizer registry.Authorizer, user *authenticationv1.UserInfo, values []authorizationv1.ResourceAttributes) error {
	const many = 4
	if err := refuseValues(ctx, user, values); err != nil {
		return err
	}
	if len(values) >= many {
		all := values[0]
		all.Name = "*"
		if all.Resource == "userextras" {
			all.Subresource = "*"
		}
		if registry.Authorize(ctx, authorizer, registry.Access{User: user, Resource: &all}) == nil {
			return nil
		}
	}
	return authorizeParts(ctx, authorizer, user, values)
}

// refuseValues returns the 403 of the first value that no mode permits. As in kube-apiserver, it
// does not name an extra value.
func refuseValues(ctx context.Context, user *authenticationv1.UserInfo, values []authorizationv1.ResourceAttributes) error {
	for _, value := range values {
		if reason := neverImpersonated(value); reason != "" {
			if value.Resource == "userextras" {
				value.Subresource, value.Name = "", ""
			}
			return registry.Authorize(ctx, refusal(reason), registry.Access{User: user, Resource: &value})
		}
	}
	return nil
}

// on returns the request with the verb impersonate-on.
func (m impersonationMode) on(access registry.Access, user *authenticationv1.UserInfo) registry.Access {
	on := registry.Access{User: user}
	prefix := "impersonate-on:" + m.name + ":"
	if access.Resource != nil {
		resource := *access.Resource
		resource.Verb = prefix + resource.Verb
		on.Resource = &resource
	} else {
		path := *access.NonResource
		path.Verb = prefix + path.Verb
		on.NonResource = &path
	}
	return on
}

// isOnNode reports whether a user is a service account whose token belongs to a pod on the node
// that it impersonates.
func isOnNode(user, impersonated *authenticationv1.UserInfo) bool {
	node, ok := nodeOf(impersonated.Username)
	_, _, isAccount := splitServiceAccount(user.Username)
	own := user.Extra[nodeNameExtra]
	return ok && isAccount && hasOnlyName(impersonated) && len(own) == 1 && own[0] == node
}

// withoutExtra returns the user with the keys of its extra values only.
func withoutExtra(user *authenticationv1.UserInfo) *authenticationv1.UserInfo {
	reduced := *user
	reduced.Extra = map[string]authenticationv1.ExtraValue{associatedNodeExtra: slices.Sorted(maps.Keys(user.Extra))}
	return &reduced
}

// nodeOf returns the node of the user system:node:NAME.
func nodeOf(username string) (name string, ok bool) {
	name, ok = strings.CutPrefix(username, "system:node:")
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

func hasOnlyName(user *authenticationv1.UserInfo) bool {
	return user.UID == "" && len(user.Groups) == 0 && len(user.Extra) == 0
}

// neverImpersonated returns the reason why no mode permits a group or an extra value, or "".
func neverImpersonated(part authorizationv1.ResourceAttributes) string {
	switch {
	case part.Resource == "groups" && part.Name == "":
		return "impersonating the empty string group is not allowed"
	case part.Resource == "groups" && part.Name == "system:masters":
		return "impersonating the system:masters group is not allowed"
	case part.Resource == "userextras":
		return invalidExtra(part.Subresource, part.Name)
	}
	return ""
}

func invalidExtra(key, value string) string {
	if key == "" {
		return "impersonating the empty string key in extra is not allowed"
	}
	if errs := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key); len(errs) > 0 {
		return "impersonating an invalid key in extra is not allowed: " + errs.ToAggregate().Error()
	}
	if key != strings.ToLower(key) {
		return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
	}
	if value == "" {
		return "impersonating the empty string value in extra is not allowed"
	}
	return ""
}

// refusal is an authorizer that denies every request for a reason.
type refusal string

// Authorize implements registry.Authorizer.
func (r refusal) Authorize(context.Context, registry.Access) (registry.Decision, error) {
	return registry.Decision{Denied: true, Reason: string(r)}, nil
}

// Rules implements registry.Authorizer.
func (r refusal) Rules(context.Context, *authenticationv1.UserInfo, string) (registry.RuleSet, error) {
	return registry.RuleSet{}, nil
}
