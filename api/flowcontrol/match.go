package flowcontrol

import (
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/miniapi/miniapi/registry"
)

// matches reports whether one of the rules has a subject and a rule for the request.
func matches(rules []flowcontrolv1.PolicyRulesWithSubjects, access registry.Access) bool {
	for i := range rules {
		if matchesSubject(rules[i].Subjects, access.User) && matchesRequest(&rules[i], access) {
			return true
		}
	}
	return false
}

func matchesSubject(subjects []flowcontrolv1.Subject, user *authenticationv1.UserInfo) bool {
	if user == nil {
		return false
	}
	return slices.ContainsFunc(subjects, func(s flowcontrolv1.Subject) bool {
		switch {
		case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
			return s.User.Name == flowcontrolv1.NameAll || s.User.Name == user.Username
		case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
			return s.Group.Name == flowcontrolv1.NameAll || slices.Contains(user.Groups, s.Group.Name)
		case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
			return isServiceAccount(s.ServiceAccount, user.Username)
		}
		return false
	})
}

func isServiceAccount(subject *flowcontrolv1.ServiceAccountSubject, username string) bool {
	name, ok := strings.CutPrefix(username, "system:serviceaccount:")
	if !ok {
		return false
	}
	if name, ok = strings.CutPrefix(name, subject.Namespace); !ok {
		return false
	}
	if name, ok = strings.CutPrefix(name, ":"); !ok {
		return false
	}
	return subject.Name == flowcontrolv1.NameAll || subject.Name == name
}

func matchesRequest(rule *flowcontrolv1.PolicyRulesWithSubjects, access registry.Access) bool {
	if access.Resource == nil {
		return slices.ContainsFunc(rule.NonResourceRules, func(r flowcontrolv1.NonResourcePolicyRule) bool {
			return contains(r.Verbs, access.NonResource.Verb) && slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
				return matchesURL(url, access.NonResource.Path)
			})
		})
	}
	return slices.ContainsFunc(rule.ResourceRules, func(r flowcontrolv1.ResourcePolicyRule) bool {
		return matchesResource(&r, access.Resource)
	})
}

func matchesResource(rule *flowcontrolv1.ResourcePolicyRule, r *authorizationv1.ResourceAttributes) bool {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	if !contains(rule.Verbs, r.Verb) || !contains(rule.Resources, resource) || !contains(rule.APIGroups, r.Group) {
		return false
	}
	if r.Namespace == "" {
		return rule.ClusterScope
	}
	return contains(rule.Namespaces, r.Namespace)
}

// matchesURL reports whether a path is the path of the rule or below it.
func matchesURL(rule, path string) bool {
	if rule == flowcontrolv1.NonResourceAll || rule == path {
		return true
	}
	return strings.HasPrefix(path, strings.TrimSuffix(strings.TrimSuffix(rule, "*"), "/")+"/")
}

// contains reports whether a list has the value, or is the wildcard.
func contains(list []string, value string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, value)
}
