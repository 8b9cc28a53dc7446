package admissionregistration

import (
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/kinds/feature"
)

// webhookWarnings returns the function that warns of rules without effect: webhooks are not called
// for reviews.
func webhookWarnings[T any](features *feature.Set, rules func(config T) [][]admissionregistrationv1.RuleWithOperations) func(config T) []string {
	if !features.Enabled(feature.ExcludeAdmissionWebhookVirtualResources) {
		return nil
	}
	return func(config T) []string {
		var warnings []string
		for i, list := range rules(config) {
			for j, rule := range list {
				for _, resource := range reviewsOf(rule) {
					warnings = append(warnings, fmt.Sprintf("webhooks[%d].rules[%d]: %s is excluded from admission webhooks; this rule will have no effect", i, j, resource))
				}
			}
		}
		return warnings
	}
}

// reviewsOf returns the reviews that a rule without wildcards names, each once.
func reviewsOf(rule admissionregistrationv1.RuleWithOperations) []schema.GroupResource {
	if slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.Resources, "*") {
		return nil
	}
	var list []schema.GroupResource
	for _, group := range rule.APIGroups {
		for _, name := range rule.Resources {
			resource := schema.GroupResource{Group: group, Resource: name}
			if isReview(resource) && !slices.Contains(list, resource) {
				list = append(list, resource)
			}
		}
	}
	return list
}

func isReview(r schema.GroupResource) bool {
	switch r.Group {
	case "authentication.k8s.io":
		return r.Resource == "selfsubjectreviews" || r.Resource == "tokenreviews"
	case "authorization.k8s.io":
		return r.Resource == "localsubjectaccessreviews" || r.Resource == "selfsubjectaccessreviews" ||
			r.Resource == "selfsubjectrulesreviews" || r.Resource == "subjectaccessreviews"
	}
	return false
}
