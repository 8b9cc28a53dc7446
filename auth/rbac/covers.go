package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// missing returns what of wanted is not in owned, in rules of one verb, one
// resource and at most one name each.
func missing(owned, wanted []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var rest []rbacv1.PolicyRule
	for _, rule := range wanted {
		for _, atom := range atoms(rule) {
			if !slices.ContainsFunc(owned, func(o rbacv1.PolicyRule) bool { return covers(o, atom) }) {
				rest = append(rest, atom)
			}
		}
	}
	return rest
}

// atoms takes a rule apart.
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

// covers tells whether a rule gives all that an atom does.
func covers(rule, atom rbacv1.PolicyRule) bool {
	return holdsAll(rule.Verbs, atom.Verbs) &&
		holdsAll(rule.APIGroups, atom.APIGroups) &&
		coversResource(rule.Resources, atom.Resources) &&
		coversNames(rule.ResourceNames, atom.ResourceNames) &&
		!slices.ContainsFunc(atom.NonResourceURLs, func(path string) bool {
			return !slices.ContainsFunc(rule.NonResourceURLs, func(owned string) bool { return pathCovers(owned, path) })
		})
}

func holdsAll(set, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !holds(set, w) })
}

func coversResource(set, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool {
		_, subresource, isSub := strings.Cut(w, "/")
		return !holds(set, w) && !(isSub && slices.Contains(set, "*/"+subresource))
	})
}

// coversNames: no names are all names, and only those cover all.
func coversNames(set, wanted []string) bool {
	if len(set) == 0 || len(wanted) == 0 {
		return len(set) == 0
	}
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(set, w) })
}

// compacted joins atoms that differ in their verb only.
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

// describe writes a rule as kube-apiserver does in its errors.
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
