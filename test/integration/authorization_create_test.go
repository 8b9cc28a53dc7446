package integration_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	applyType = "application/apply-patch+yaml"
)

// grantRole creates a ClusterRole with the rules and binds it to a user in all namespaces.
func grantRole(t *testing.T, server *miniapi.Server, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	roles := servertest.Client(t, server.RESTConfig()).RbacV1()
	name := metav1.ObjectMeta{Name: user}
	_, err := roles.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{})
	check(t, err)
	_, err = roles.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	check(t, err)
}

// sendAs sends a request with the credentials of config. It impersonates user unless user is "".
func sendAs(t *testing.T, config *rest.Config, user, request, contentType, body string) (status int, response string) {
	t.Helper()
	client := servertest.HTTPClient(t, config)
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader(body))
	check(t, err)
	r.Header.Set("Content-Type", contentType)
	if user != "" {
		r.Header.Set("Impersonate-User", user)
	}
	res, err := client.Do(r)
	check(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	check(t, err)
	return res.StatusCode, string(data)
}

// A PUT or PATCH that creates an object requires the verb create.
func TestCreatingUpdatesRequireTheVerbCreate(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{
		Authorization: miniapi.RBAC, CRDs: []string{write(t, t.TempDir(), "crd.yaml", definition("widgets", "Widget"))},
	})
	allResources := func(verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: verbs}
	}
	grantRole(t, server, "carol", allResources("get", "update", "patch"))
	grantRole(t, server, "named", allResources("get", "update", "patch"),
		rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"create"}, ResourceNames: []string{"x"}})
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	const widget = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"x"}}`
	for _, test := range []struct {
		name, request, contentType, body string
		status                           int
		message                          string // "" if another error comes first
	}{
		{"apply of a pod", "PATCH /api/v1/namespaces/default/pods/x?fieldManager=m", applyType, pod, 403,
			`pods \"x\" is forbidden: User \"carol\" cannot create resource \"pods\" in API group \"\" in the namespace \"default\"`},
		{"forced apply", "PATCH /api/v1/namespaces/default/pods/x?fieldManager=m&force=true", applyType, pod, 403,
			`pods \"x\" is forbidden: User \"carol\" cannot create resource \"pods\"`},
		{"apply of a custom resource", "PATCH /apis/example.org/v1/namespaces/default/widgets/x?fieldManager=m", applyType, widget, 403,
			`widgets.example.org \"x\" is forbidden: User \"carol\" cannot create resource \"widgets\" in API group \"example.org\"`},
		{"PUT of a lease", "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/x", jsonType, `{"metadata":{"name":"x"},"spec":{}}`, 403,
			`leases.coordination.k8s.io \"x\" is forbidden: User \"carol\" cannot create resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\"`},
		{"PUT of endpoints", "PUT /api/v1/namespaces/default/endpoints/x", jsonType, `{"metadata":{"name":"x"}}`, 403,
			`endpoints \"x\" is forbidden: User \"carol\" cannot create resource \"endpoints\"`},
		{"dry run", "PUT /api/v1/namespaces/default/endpoints/x?dryRun=All", jsonType, `{"metadata":{"name":"x"}}`, 403,
			`endpoints \"x\" is forbidden: User \"carol\" cannot create resource \"endpoints\"`},
		{"PUT at the cluster scope", "PUT /apis/node.k8s.io/v1/runtimeclasses/x", jsonType, `{"metadata":{"name":"x"},"handler":"h"}`, 403,
			`runtimeclasses.node.k8s.io \"x\" is forbidden: User \"carol\" cannot create resource \"runtimeclasses\" in API group \"node.k8s.io\" at the cluster scope`},
		{"an invalid object", "PATCH /api/v1/namespaces/default/pods/x?fieldManager=m", applyType, strings.Replace(pod, `"c"`, `"C"`, 1), 422, ""},
		{"a kind that PUT does not create", "PUT /api/v1/namespaces/default/configmaps/x", jsonType, `{"metadata":{"name":"x"}}`, 404, ""},
		{"a merge patch", "PATCH /apis/coordination.k8s.io/v1/namespaces/default/leases/x", mergeType, `{}`, 404, ""},
		{"apply to a status", "PATCH /api/v1/namespaces/default/pods/x/status?fieldManager=m", applyType, pod, 404, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := server.RESTConfig()
			status, body := sendAs(t, config, "carol", test.request, test.contentType, test.body)
			if status != test.status || !strings.Contains(body, test.message) {
				t.Errorf("without create: %d %s", status, body)
			}
			if test.status != http.StatusForbidden {
				return
			}
			if status, body := sendAs(t, config, "named", test.request, test.contentType, test.body); status != http.StatusCreated {
				t.Errorf("with create for this name: %d %s", status, body)
			}
			if strings.Contains(test.request, "dryRun") {
				return
			}
			object, _, _ := strings.Cut(strings.Fields(test.request)[1], "?")
			if status, body := sendAs(t, config, "carol", "PATCH "+object, mergeType, `{"metadata":{"labels":{"a":"b"}}}`); status != http.StatusOK {
				t.Errorf("patch of the existing object: %d %s", status, body)
			}
			if status, body := sendAs(t, config, "", "DELETE "+object+"?gracePeriodSeconds=0", jsonType, ""); status != http.StatusOK {
				t.Errorf("delete: %d %s", status, body)
			}
		})
	}
}
