package integration_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/servertest"
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
	server := servertest.Start(t, miniapi.Config{Bootstrap: bootstrap.Full, Profiling: true})
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
	server := servertest.Start(t, miniapi.Config{})
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("a server without FlowSchemas: %v", got)
	}
	api := clientset(t, server).FlowcontrolV1()
	schema := flowSchema(flowcontrolv1.ResourcePolicyRule{
		Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"namespaces"}, ClusterScope: true,
	})
	schema, err := api.FlowSchemas().Create(t.Context(), schema, metav1.CreateOptions{})
	check(t, err)
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("a FlowSchema without its priority level: %v", got)
	}
	level, err := api.PriorityLevelConfigurations().Create(t.Context(), priorityLevel(), metav1.CreateOptions{})
	check(t, err)
	if got, want := classOf(t, server, "/api/v1/namespaces"), [2]string{string(schema.UID), string(level.UID)}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := classOf(t, server, "/api/v1/pods"); got != [2]string{} {
		t.Errorf("another request: %v", got)
	}
	const series = `flow_schema="ours"`
	if text := request(t, http.MethodGet, server.URL()+"/metrics", "", ""); !strings.Contains(text, series) {
		t.Errorf("no metrics with %s", series)
	}
	check(t, api.FlowSchemas().Delete(t.Context(), "ours", metav1.DeleteOptions{}))
	if got := classOf(t, server, "/api/v1/namespaces"); got != [2]string{} {
		t.Errorf("after the deletion: %v", got)
	}
	if text := request(t, http.MethodGet, server.URL()+"/metrics", "", ""); strings.Contains(text, series) {
		t.Errorf("metrics with %s after the deletion", series)
	}
}

// flowSchema returns a FlowSchema of the local administrator. priorityLevel returns its level.
func flowSchema(rule flowcontrolv1.ResourcePolicyRule) *flowcontrolv1.FlowSchema {
	return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "ours"}, Spec: flowcontrolv1.FlowSchemaSpec{
		MatchingPrecedence:         10,
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "level"},
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:      []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "system:admin"}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{rule},
		}},
	}}
}

func priorityLevel() *flowcontrolv1.PriorityLevelConfiguration {
	return &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "level"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type:    flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}},
	}}
}

// addFlowSchema creates the FlowSchema "ours" for the requests of a rule, with the priority level
// "level".
func addFlowSchema(t *testing.T, server *miniapi.Server, rule flowcontrolv1.ResourcePolicyRule) {
	t.Helper()
	api := clientset(t, server).FlowcontrolV1()
	_, err := api.PriorityLevelConfigurations().Create(t.Context(), priorityLevel(), metav1.CreateOptions{})
	check(t, err)
	_, err = api.FlowSchemas().Create(t.Context(), flowSchema(rule), metav1.CreateOptions{})
	check(t, err)
}

// flowMetric returns a line of a metric of the FlowSchema "ours". more are further labels, which
// follow flow_schema.
func flowMetric(name, more, value string) string {
	return fmt.Sprintf(`apiserver_flowcontrol_%s\{flow_schema="ours",priority_level="level"%s\} %s`, name, more, value)
}

// A watch is in execution until it has sent its initial events, or until it is forwarded.
func TestFlowControlMetrics(t *testing.T) {
	a := newAggregation(t, miniapi.Config{})
	a.extend()
	addFlowSchema(t, a.server, flowcontrolv1.ResourcePolicyRule{
		Verbs: []string{"get", "watch"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
	})
	request(t, http.MethodGet, a.server.URL()+"/api/v1/namespaces/absent", "", "")
	for _, path := range []string{"/api/v1/namespaces?watch=1", things + "?watch=1"} {
		resp, err := http.Get(a.server.URL() + path)
		check(t, err)
		defer resp.Body.Close()
		_, err = bufio.NewReader(resp.Body).ReadString('\n')
		check(t, err)
	}
	await(t, func() bool {
		return missingMetric(t, a.server,
			flowMetric("dispatched_requests_total", "", "3"), flowMetric("current_executing_requests", "", "0"),
			flowMetric("request_execution_seconds_count", `,type="regular"`, "1"),
			flowMetric("request_execution_seconds_count", `,type="watch"`, "2"),
			flowMetric("rejected_requests_total", `,reason="concurrency-limit"`, "0")) == ""
	})
}

// A request beyond the limits is rejected, and not executed.
func TestRejectedRequestsMetrics(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{MaxMutatingRequestsInFlight: 1})
	addFlowSchema(t, server, flowcontrolv1.ResourcePolicyRule{
		Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, Namespaces: []string{"default"},
	})
	await(t, func() bool {
		return missingMetric(t, server, `apiserver_current_inflight_requests\{request_kind="mutating"\} 0`) == ""
	})
	url := server.URL() + "/api/v1/namespaces/default/configmaps"
	body, send := io.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with the request
		resp, err := http.Post(url, "application/json", body)
		if err == nil {
			err = resp.Body.Close()
		}
		ended <- err
	}()
	await(t, func() bool { return missingMetric(t, server, flowMetric("current_executing_requests", "", "1")) == "" })
	if got := request(t, http.MethodPost, url, "application/json", `{"metadata":{"name":"a"}}`); !strings.Contains(got, "Too many requests") {
		t.Errorf("a second write: %s", got)
	}
	expectMetrics(t, server, flowMetric("rejected_requests_total", `,reason="concurrency-limit"`, "1"), flowMetric("dispatched_requests_total", "", "1"))
	check(t, send.Close())
	check(t, <-ended)
	await(t, func() bool { return missingMetric(t, server, flowMetric("current_executing_requests", "", "0")) == "" })
}
