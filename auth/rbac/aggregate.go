package rbac

import (
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregated returns the roles with the rules of those that have an
// aggregationRule put together. Such a role may be selected by another one, as
// view is by edit and edit by admin, so sums are made until nothing changes.
func aggregated(stored map[string]*rbacv1.ClusterRole) map[string]*rbacv1.ClusterRole {
	roles := maps.Clone(stored)
	var sums []string
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if roles[name].AggregationRule != nil {
			sums = append(sums, name)
		}
	}
	// Rules only grow, and a chain of selections is no longer than there are sums.
	for range sums {
		changed := false
		for _, name := range sums {
			rules := sumOf(roles, name)
			if len(rules) != len(roles[name].Rules) {
				sum := *roles[name]
				sum.Rules, changed = rules, true
				roles[name] = &sum
			}
		}
		if !changed {
			break
		}
	}
	return roles
}

// sumOf returns what a role grants itself and, behind that, each rule of those
// it selects once.
func sumOf(roles map[string]*rbacv1.ClusterRole, name string) []rbacv1.PolicyRule {
	role := roles[name]
	rules := slices.Clone(role.Rules)
	for _, selected := range selectedBy(roles, role.AggregationRule.ClusterRoleSelectors) {
		if selected == name {
			continue
		}
		for _, rule := range roles[selected].Rules {
			if !slices.ContainsFunc(rules, func(have rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(have, rule) }) {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// selectedBy returns the names of the roles, in order, that any of the
// selectors matches. One that cannot be read matches nothing.
func selectedBy(roles map[string]*rbacv1.ClusterRole, selectors []metav1.LabelSelector) []string {
	var names []string
	for i := range selectors {
		selector, err := metav1.LabelSelectorAsSelector(&selectors[i])
		if err != nil {
			continue
		}
		for name, role := range roles {
			if selector.Matches(labels.Set(role.Labels)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
