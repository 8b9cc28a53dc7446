package rbac

import (
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// resolveAggregation returns the roles with the rules of aggregated roles added. An aggregated role
// may select another one, as admin selects edit and edit selects view, so this is repeated until
// nothing changes.
func resolveAggregation(stored map[string]*rbacv1.ClusterRole) map[string]*rbacv1.ClusterRole {
	roles := maps.Clone(stored)
	var aggregated []string
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if roles[name].AggregationRule != nil {
			aggregated = append(aggregated, name)
		}
	}
	// Rules are only added, and no chain of selections is longer than the number of aggregated
	// roles.
	for range aggregated {
		changed := false
		for _, name := range aggregated {
			rules := aggregatedRules(roles, name)
			if len(rules) != len(roles[name].Rules) {
				role := *roles[name]
				role.Rules, changed = rules, true
				roles[name] = &role
			}
		}
		if !changed {
			break
		}
	}
	return roles
}

// aggregatedRules returns the rules of a role, then the rules of the roles it selects, without
// duplicates.
func aggregatedRules(roles map[string]*rbacv1.ClusterRole, name string) []rbacv1.PolicyRule {
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

// selectedBy returns the sorted names of the roles that any of the selectors matches. An invalid
// selector matches none.
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
