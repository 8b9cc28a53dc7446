package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestRules(t *testing.T) {
	for _, tc := range []struct {
		rule       string
		policy     rbacv1.PolicyRule
		namespaced bool
		want       []string
	}{
		{"verbs for resources", rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}, true, nil},
		{"verbs for paths", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}}, false, nil},
		{"namespaced rules have no paths", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}}, true,
			[]string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`}},
		{"an empty rule", rbacv1.PolicyRule{}, true, []string{
			"rules[0].verbs: Required value",
			"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
			"rules[0].resources: Required value: resource rules must supply at least one resource",
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, registrytest.Texts(validateRules([]rbacv1.PolicyRule{tc.policy}, tc.namespaced))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrefixesAreValidatedLikeNames(t *testing.T) {
	for prefix, want := range map[string]int{"a.": 0, "system:": 0, ".": 1, "..": 1, "a/": 1} {
		if errs := validateName(prefix, true); len(errs) != want {
			t.Errorf("%s: %v", prefix, errs)
		}
	}
}

func TestBindings(t *testing.T) {
	binding := &rbacv1.ClusterRoleBinding{}
	defaultClusterRoleBinding(binding)
	want := []string{`roleRef.kind: Unsupported value: "": supported values: "ClusterRole"`, `roleRef.name: Required value`}
	if diff := cmp.Diff(want, registrytest.Texts(validateClusterRoleBinding(binding))); diff != "" {
		t.Errorf("an empty binding (-want +got):\n%s", diff)
	}
	binding.RoleRef = rbacv1.RoleRef{Kind: "ClusterRole", Name: "system:node"}
	binding.Subjects = []rbacv1.Subject{{Kind: "User", Name: "jane@x"}, {Kind: "ServiceAccount", Name: "bot"}, {Kind: "Robot", Name: "r"}}
	defaultClusterRoleBinding(binding)
	want = []string{
		`subjects[1].namespace: Required value`,
		`subjects[2].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`,
	}
	if diff := cmp.Diff(want, registrytest.Texts(validateClusterRoleBinding(binding))); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
}

func TestAggregation(t *testing.T) {
	valid := func() *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{}}}}
	}
	check := registrytest.Rules(t, valid, validateClusterRole)
	check("an aggregation rule has selectors", func(r *rbacv1.ClusterRole) { r.AggregationRule.ClusterRoleSelectors = nil },
		"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil")
	check("selectors of aggregation rules are valid", func(r *rbacv1.ClusterRole) {
		r.AggregationRule.ClusterRoleSelectors[0].MatchLabels = map[string]string{"a": "-"}
	},
		`aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "-": a valid label must be an empty string or consist of `+
			`alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character `+
			`(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		`aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.`)
}
