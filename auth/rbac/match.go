package rbac

import (
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi/registry"
)

// all is what stands for everything in each list of a rule.
const all = "*"

func allows(rule *rbacv1.PolicyRule, access registry.Access) bool {
	switch {
	case access.Resource != nil:
		return allowsResource(rule, access.Resource)
	case access.NonResource != nil:
		return holds(rule.Verbs, access.NonResource.Verb) && slices.ContainsFunc(rule.NonResourceURLs, func(owned string) bool {
			return pathCovers(owned, access.NonResource.Path)
		})
	default:
		return false
	}
}

func allowsResource(rule *rbacv1.PolicyRule, wanted *authorizationv1.ResourceAttributes) bool {
	return holds(rule.Verbs, wanted.Verb) &&
		holds(rule.APIGroups, wanted.Group) &&
		holdsResource(rule.Resources, wanted) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, wanted.Name))
}

func holds(set []string, wanted string) bool {
	return slices.Contains(set, all) || slices.Contains(set, wanted)
}

// holdsResource knows, besides resources and subresources by name, "*/scale"
// for a subresource of everything.
func holdsResource(set []string, wanted *authorizationv1.ResourceAttributes) bool {
	if wanted.Subresource == "" {
		return holds(set, wanted.Resource)
	}
	return holds(set, wanted.Resource+"/"+wanted.Subresource) || slices.Contains(set, "*/"+wanted.Subresource)
}

// pathCovers: a path that ends in a star stands for all that begin like it.
func pathCovers(owned, path string) bool {
	return owned == path || strings.HasSuffix(owned, all) && strings.HasPrefix(path, strings.TrimRight(owned, all))
}
