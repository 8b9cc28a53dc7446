package match

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// rule is one rule of criteria, with resource names if it has any.
type rule struct {
	*admissionregistrationv1.RuleWithOperations
	names []string
}

func namedRules(list []admissionregistrationv1.NamedRuleWithOperations) []rule {
	rules := make([]rule, len(list))
	for i := range list {
		rules[i] = rule{RuleWithOperations: &list[i].RuleWithOperations, names: list[i].ResourceNames}
	}
	return rules
}

// matches reports whether the rule matches the request, with the resource of the target instead
// of the resource of the request.
func (r rule) matches(request *Request, as *Target) bool {
	return anyOf(r.APIGroups, as.Resource.Group) &&
		anyOf(r.APIVersions, as.Resource.Version) &&
		anyOf(r.Operations, admissionregistrationv1.OperationType(request.Operation)) &&
		r.hasResource(as.Resource.Resource, request.Subresource) &&
		r.hasScope(request) &&
		(len(r.names) == 0 || slices.Contains(r.names, request.Name))
}

func anyOf[S ~string](list []S, value S) bool {
	return slices.Contains(list, value) || slices.Contains(list, "*")
}

// hasResource supports "pods", "pods/exec", "pods/*", "*/scale" and "*".
func (r rule) hasResource(resource, subresource string) bool {
	return slices.ContainsFunc(r.Resources, func(text string) bool {
		ofResource, ofSubresource, _ := strings.Cut(text, "/")
		return (ofResource == "*" || ofResource == resource) && (ofSubresource == "*" || ofSubresource == subresource)
	})
}

func (r rule) hasScope(request *Request) bool {
	if r.Scope == nil || *r.Scope == admissionregistrationv1.AllScopes {
		return true
	}
	inNamespace := request.Namespace != "" && !request.IsNamespace()
	return inNamespace == (*r.Scope == admissionregistrationv1.NamespacedScope)
}
