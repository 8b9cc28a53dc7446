package rbac

import (
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/registry"
)

// all is the wildcard in the lists of a rule.
const all = "*"

// AnyAllows reports whether one of the rules allows a request.
func AnyAllows(rules []rbacv1.PolicyRule, access registry.Access) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, access) })
}

// allows reports whether a rule allows a request.
func allows(rule *rbacv1.PolicyRule, access registry.Access) bool {
	switch {
	case access.Resource != nil:
		return allowsResource(rule, access.Resource)
	case access.NonResource != nil:
		return matches(rule.Verbs, access.NonResource.Verb) && slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool {
			return matchesPath(pattern, access.NonResource.Path)
		})
	default:
		return false
	}
}

func allowsResource(rule *rbacv1.PolicyRule, requested *authorizationv1.ResourceAttributes) bool {
	return matches(rule.Verbs, requested.Verb) &&
		matches(rule.APIGroups, requested.Group) &&
		matchesResource(rule.Resources, requested) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, requested.Name))
}

// matches reports whether a list of a rule contains a value or the wildcard.
func matches(list []string, value string) bool {
	return slices.Contains(list, all) || slices.Contains(list, value)
}

// matchesResource reports whether a list of resources contains the requested one. "*/scale" matches
// a subresource of all resources.
func matchesResource(list []string, requested *authorizationv1.ResourceAttributes) bool {
	if requested.Subresource == "" {
		return matches(list, requested.Resource)
	}
	return matches(list, requested.Resource+"/"+requested.Subresource) || slices.Contains(list, "*/"+requested.Subresource)
}

// matchesPath reports whether a pattern matches a path. A pattern that ends in a star matches all
// paths with its prefix.
func matchesPath(pattern, path string) bool {
	return pattern == path || strings.HasSuffix(pattern, all) && strings.HasPrefix(path, strings.TrimRight(pattern, all))
}
