package integration_test

import (
	"net/http"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
)

// classOf returns the headers of a response with the FlowSchema and the priority level.
func classOf(t *testing.T, server *miniapi.Server, path string) [2]string {
	t.Helper()
	resp, err := http.Get(server.URL() + path)
	check(t, err)
	check(t, resp.Body.Close())
	return [2]string{resp.Header.Get("X-Kubernetes-PF-FlowSchema-UID"), resp.Header.Get("X-Kubernetes-PF-PriorityLevel-UID")}
}

func TestResponsesNameTheirFlowSchema(t *testing.T) {
	server := start(t, miniapi.Config{Bootstrap: bootstrap.Full, Profiling: true})
	api := clientset(t, server).FlowcontrolV1()
	uids := func(schema, level string) [2]string {
		t.Helper()
		s, err := api.FlowSchemas().Get(t.Context(), schema, metav1.GetOptions{})
		check(t, err)
		l, err := api.PriorityLevelConfigurations().Get(t.Context(), level, metav1.GetOptions{})
		check(t, err)
		return [2]string{string(s.UID), string(l.UID)}
	}
	exempt := uids("exempt", "exempt")
	for _, path := range []string{"/version", "/api/v1/namespaces", "/api/v1/namespaces/absent", "/absent"} {
		if got := classOf(t, server, path); got != exempt {
			t.Errorf("%s: %v, want %v", path, got, exempt)
		}
	}
	if got := classOf(t, server, "/debug/pprof/"); got != [2]string{} {
		t.Errorf("a long-running request that is no watch: %v", got)
	}
}

func TestNewFlowSchemasAreInEffect(t *testing.T) {
	server := start(t, miniapi.Config{})
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("a server without FlowSchemas: %v", got)
	}
	api := clientset(t, server).FlowcontrolV1()
	schema := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "ours"}, Spec: flowcontrolv1.FlowSchemaSpec{
		MatchingPrecedence:         10,
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "level"},
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects: []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "system:admin"}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
				Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"namespaces"}, ClusterScope: true,
			}},
		}},
	}}
	schema, err := api.FlowSchemas().Create(t.Context(), schema, metav1.CreateOptions{})
	check(t, err)
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("a FlowSchema without its priority level: %v", got)
	}
	level := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "level"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type:    flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}},
	}}
	level, err = api.PriorityLevelConfigurations().Create(t.Context(), level, metav1.CreateOptions{})
	check(t, err)
	if got, want := classOf(t, server, "/api/v1/namespaces"), [2]string{string(schema.UID), string(level.UID)}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := classOf(t, server, "/api/v1/pods"); got != [2]string{} {
		t.Errorf("another request: %v", got)
	}
	check(t, api.FlowSchemas().Delete(t.Context(), "ours", metav1.DeleteOptions{}))
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("after the deletion: %v", got)
	}
}
