package integration_test

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// step is a write of a user. want is a part of the error message, "" for success.
type step struct{ user, request, body, want string }

// play sends the requests in order. POST and PUT send JSON, PATCH a merge patch.
func play(t *testing.T, server *miniapi.Server, steps []step) {
	t.Helper()
	for _, s := range steps {
		contentType := jsonType
		if strings.HasPrefix(s.request, "PATCH") {
			contentType = mergeType
		}
		status, body := sendAs(t, server.RESTConfig(), s.user, s.request, contentType, s.body)
		want := strings.ReplaceAll(s.want, `"`, `\"`)
		if body = strings.ReplaceAll(body, `\u0026`, "&"); (status < 300) != (want == "") || !strings.Contains(body, want) {
			t.Errorf("%s as %q\ngot  %d %s\nwant %s", s.request, s.user, status, body, s.want)
		}
	}
}

// The right to write policies gives no read access to their parameters.
func TestPolicyParametersRequireReadAccess(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
	policies := rbacv1.PolicyRule{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	one := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: []string{"s"}}
	grantRole(t, server, "dave", policies)
	grantRole(t, server, "erin", policies, secrets)
	grantRole(t, server, "fred", policies, one)

	const rules = `"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}`
	const named, selected = `{"name":"s","namespace":"default","parameterNotFoundAction":"Deny"}`, `{"selector":{},"parameterNotFoundAction":"Deny"}`
	for _, kind := range []struct{ resource, policy, binding, forbidden string }{
		{
			"validatingadmissionpolic", `"validations":[{"expression":"true"}]`, `"validationActions":["Deny"]`,
			`spec.paramRef: Forbidden: user &{%s  [system:authenticated] map[]} does not have "%s" permission on the object referenced by paramRef`,
		},
		{
			"mutatingadmissionpolic", `"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op:\"remove\",path:\"/data\"}]"}}]`, `"matchResources":{}`,
			`spec.paramRef: Forbidden: user %[2]s does not have "&{%[1]s  [system:authenticated] map[]}" permission on the object referenced by paramRef`,
		},
	} {
		t.Run(kind.resource, func(t *testing.T) {
			all := "/apis/admissionregistration.k8s.io/v1/" + kind.resource + "ies"
			bindings := "/apis/admissionregistration.k8s.io/v1/" + kind.resource + "ybindings"
			policy := func(name, apiVersion, params string) string {
				return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"paramKind":{"apiVersion":%q,"kind":%q},%s,%s}}`, name, apiVersion, params, rules, kind.policy)
			}
			binding := func(name, policy, params string) string {
				return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"policyName":%q,"paramRef":%s,%s}}`, name, policy, params, kind.binding)
			}
			ofKind := func(user, kind, apiVersion string) string {
				return fmt.Sprintf(`spec.paramKind: Forbidden: user &{%s  [system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`,
					user, kind, apiVersion)
			}
			forbidden := func(user, verb string) string { return fmt.Sprintf(kind.forbidden, user, verb) }
			const unknown = ` to determine minimum required permissions and user &{erin  [system:authenticated] map[]} does not have "get" permission for all groups, versions and resources`
			play(t, server, []step{
				{"dave", "POST " + all, policy("p", "v1", "Secret"), ofKind("dave", "Secret", "v1")},
				{"fred", "POST " + all, policy("p", "v1", "Secret"), ofKind("fred", "Secret", "v1")},
				{"erin", "POST " + all, policy("p", "none.io/v1", "None"), ofKind("erin", "None", "none.io/v1")},
				{"erin", "POST " + all, policy("p", "v1", "Secret"), ""},
				{"dave", "PATCH " + all + "/p", `{"metadata":{"labels":{"a":"b"}}}`, ""},
				{"dave", "PATCH " + all + "/p", `{"spec":{"paramKind":{"kind":"ConfigMap"}}}`, ofKind("dave", "ConfigMap", "v1")},
				{"dave", "POST " + bindings, binding("b", "p", named), forbidden("dave", "get")},
				{"fred", "POST " + bindings, binding("b", "p", selected), forbidden("fred", "list")},
				{"erin", "POST " + bindings, binding("b", "none", named), "spec.paramRef: Forbidden: unable to get policy none" + unknown},
				{"", "POST " + all, policy("q", "none.io/v1", "None"), ""},
				{"erin", "POST " + bindings, binding("b", "q", named), "spec.paramRef: Forbidden: unable to resolve paramKind &{none.io/v1 None}" + unknown},
				{"fred", "POST " + bindings, binding("b", "p", named), ""},
				{"", "POST " + bindings, binding("c", "p", selected), ""},
				{"dave", "PATCH " + bindings + "/b", `{"metadata":{"labels":{"a":"b"}}}`, forbidden("dave", "get")},
				{"fred", "PATCH " + bindings + "/b", `{"metadata":{"labels":{"a":"b"}}}`, ""},
				{"dave", "PATCH " + bindings + "/b", `{"spec":{"paramRef":null}}`, ""},
				{"dave", "PATCH " + all + "/p", `{"spec":{"paramKind":null}}`, ""},
			})
		})
	}
}

// Admin access to devices requires a label on the namespace. Changes of allocations and device
// status require separate rights.
func TestResourceClaimFieldsRequireRights(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
	rule := func(resource, verb string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"resource.k8s.io"}, Resources: []string{resource}, Verbs: []string{verb}}
	}
	grantRole(t, server, "gina", rule("resourceclaims/status", "*"))
	grantRole(t, server, "hal", rule("resourceclaims/status", "*"), rule("resourceclaims/binding", "patch"), rule("resourceclaims/driver", "arbitrary-node:patch"))
	const (
		claims, claim = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}}}`
		templates     = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
		template      = `{"metadata":{"name":"t"},"spec":{"spec":{"devices":{"requests":[{"name":"r0","exactly":{"deviceClassName":"c"}},{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}}}}`
		label         = `{"metadata":{"labels":{"resource.kubernetes.io/admin-access":"%s"}}}`
		allocation    = `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.io","pool":"p","device":"d","adminAccess":true}]}}}}`
		devices       = `{"status":{"devices":[{"driver":"d.io","pool":"p","device":"d"}]}}`

		unlabelled = ".adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
		unbound    = `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "gina" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope`
		undriven   = `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "d.io" is forbidden: User "gina" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"`
	)
	play(t, server, []step{
		{"", "POST " + claims, claim, "spec.devices.requests[0]" + unlabelled},
		{"", "POST " + templates, template, "spec.devices.requests[1]" + unlabelled},
		{"", "PATCH /api/v1/namespaces/default", fmt.Sprintf(label, "true"), ""},
		{"", "POST " + claims, claim, ""},
		{"", "POST " + templates, template, ""},
		{"", "PATCH /api/v1/namespaces/default", fmt.Sprintf(label, "false"), ""},
		{"", "PATCH " + claims + "/a/status", allocation, "status.allocation.devices.results[0]" + unlabelled},
		{"gina", "PATCH " + claims + "/a/status", allocation, unlabelled + ", " + unbound},
		{"", "PATCH /api/v1/namespaces/default", fmt.Sprintf(label, "true"), ""},
		{"gina", "PATCH " + claims + "/a/status", allocation, unbound},
		{"gina", "PATCH " + claims + "/a/status", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"hal", "PATCH " + claims + "/a/status", allocation, ""},
		{"gina", "PATCH " + claims + "/a/status", devices, undriven},
		{"hal", "PATCH " + claims + "/a/status", devices, ""},
		{"gina", "PATCH " + claims + "/a/status", `{"status":{"devices":null}}`, undriven},
		{"", "PATCH /api/v1/namespaces/default", fmt.Sprintf(label, "false"), ""},
		{"", "PATCH " + claims + "/a", `{"metadata":{"labels":{"c":"d"}}}`, ""},
	})
}
