package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// missing returns the atoms of the requested rules that no owned rule covers.
func missing(owned, requested []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var uncovered []rbacv1.PolicyRule
	for _, rule := range requested {
		for _, atom := range atoms(rule) {
			if !slices.ContainsFunc(owned, func(o rbacv1.PolicyRule) bool { return covers(o, atom) }) {
				uncovered = append(uncovered, atom)
			}
		}
	}
	return uncovered
}

// atoms splits a rule into rules of one verb, one resource and at most one name.
func atoms(rule rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				atom := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(rule.ResourceNames) == 0 {
					out = append(out, atom)
				}
				for _, name := range rule.ResourceNames {
					named := atom
					named.ResourceNames = []string{name}
					out = append(out, named)
				}
			}
		}
	}
	for _, path := range rule.NonResourceURLs {
		for _, verb := range rule.Verbs {
			out = append(out, rbacv1.PolicyRule{NonResourceURLs: []string{path}, Verbs: []string{verb}})
		}
	}
	return out
}

// covers reports whether a rule allows everything that an atom allows.
func covers(rule, atom rbacv1.PolicyRule) bool {
	return matchesAll(rule.Verbs, atom.Verbs) &&
		matchesAll(rule.APIGroups, atom.APIGroups) &&
		coversResource(rule.Resources, atom.Resources) &&
		coversNames(rule.ResourceNames, atom.ResourceNames) &&
		!slices.ContainsFunc(atom.NonResourceURLs, func(path string) bool {
			return !slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool { return matchesPath(pattern, path) })
		})
}

func matchesAll(list, values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !matches(list, value) })
}

func coversResource(list, values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool {
		_, subresource, isSub := strings.Cut(value, "/")
		return !matches(list, value) && !(isSub && slices.Contains(list, "*/"+subresource))
	})
}

// coversNames reports whether a list of names covers another. An empty list means all names.
func coversNames(list, values []string) bool {
	if len(list) == 0 || len(values) == 0 {
		return len(list) == 0
	}
	return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(list, value) })
}

// compacted joins atoms that differ only in the verb.
func compacted(atoms []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, atom := range atoms {
		i := slices.IndexFunc(out, func(o rbacv1.PolicyRule) bool {
			return len(atom.NonResourceURLs) == 0 && slices.Equal(o.APIGroups, atom.APIGroups) &&
				slices.Equal(o.Resources, atom.Resources) && slices.Equal(o.ResourceNames, atom.ResourceNames)
		})
		if i < 0 {
			out = append(out, atom)
			continue
		}
		out[i].Verbs = append(slices.Clone(out[i].Verbs), atom.Verbs...)
	}
	return out
}

// describe formats a rule as the errors of kube-apiserver do.
func describe(rule rbacv1.PolicyRule) string {
	var parts []string
	for _, part := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", rule.APIGroups},
		{"Resources", rule.Resources},
		{"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames},
		{"Verbs", rule.Verbs},
	} {
		if len(part.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", part.name, part.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
