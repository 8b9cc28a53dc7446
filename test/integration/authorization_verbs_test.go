package integration_test

import (
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// The right to a verb on a resource does not include similar verbs, subresources and other
// resources. Authorization comes first, so the objects need not exist.
func TestRightsAreLimitedToTheirVerbAndResource(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Authorization: miniapi.RBAC})
	const pods, deployments = "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments"
	for user, test := range map[string]struct {
		verbs, resources string // of all groups
		forbidden        string
	}{
		"lister":     {"list", "secrets", "GET /api/v1/secrets?watch=1,GET /api/v1/watch/secrets,GET /api/v1/namespaces/default/secrets/x"},
		"getter":     {"get", "pods", "GET " + pods + ",GET " + pods + "/x/log,GET " + pods + "/x/exec?command=id,GET " + pods + "/x/status,HEAD " + pods},
		"creator":    {"create", "pods", "POST " + pods + "/x/binding,POST " + pods + "/x/eviction,POST " + pods + "/x/exec,POST /api/v1/namespaces/default/bindings,PUT " + pods + "/x"},
		"updater":    {"update", "pods,deployments", "PATCH " + pods + "/x,PUT " + pods + "/x/status,PUT " + pods + "/x/ephemeralcontainers,PUT " + pods + "/x/resize,PUT " + deployments + "/x/scale,DELETE " + pods + "/x"},
		"patcher":    {"patch", "pods", "PUT " + pods + "/x,PATCH " + pods + "/x/status,POST " + pods},
		"statuses":   {"*", "pods/status,deployments/scale", "PUT " + pods + "/x,PATCH " + pods + "/x,GET " + pods + "/x,PUT " + deployments + "/x,PATCH " + deployments + "/x/status"},
		"deleter":    {"delete", "configmaps", "DELETE /api/v1/namespaces/default/configmaps"},
		"collector":  {"deletecollection", "configmaps", "DELETE /api/v1/namespaces/default/configmaps/x"},
		"accounts":   {"create,get,update", "serviceaccounts", "POST /api/v1/namespaces/default/serviceaccounts/default/token"},
		"namespaces": {"update", "namespaces", "PUT /api/v1/namespaces/default/finalize,PUT /api/v1/namespaces/default/status"},
		"signers":    {"update", "certificatesigningrequests", "PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval,PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/x/status"},
		"proxies":    {"get", "nodes,services", "GET /api/v1/nodes/x/proxy/metrics,GET /api/v1/namespaces/default/services/x/proxy/,GET /api/v1/proxy/nodes/x"},
		"reviewers":  {"create", "selfsubjectaccessreviews", "POST /apis/authorization.k8s.io/v1/subjectaccessreviews,POST /apis/authentication.k8s.io/v1/tokenreviews"},
	} {
		grantRole(t, server, user, rbacv1.PolicyRule{
			APIGroups: []string{"*"}, Resources: strings.Split(test.resources, ","), Verbs: strings.Split(test.verbs, ","),
		})
		for request := range strings.SplitSeq(test.forbidden, ",") {
			if status, body := sendAs(t, server.RESTConfig(), user, request, jsonType, "{}"); status != http.StatusForbidden {
				t.Errorf("%s of %s: %s: %d %s", test.verbs, test.resources, request, status, body)
			}
		}
	}
}
