package integration_test

import (
	"bufio"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

var (
	documentedMetric = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\| ?([a-z_, .]*) \\|")
	servedMetric     = regexp.MustCompile(`(?m)^# TYPE ([a-z_0-9]+) ([a-z]+)$`)
)

// docs/metrics.md lists every metric of a server with its type and labels, and no other one.
func TestMetricsAreDocumented(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	addFlowSchema(t, server, flowcontrolv1.ResourcePolicyRule{
		Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ClusterScope: true,
	})
	created := `{"metadata":{"name":"a"}}`
	for range 2 { // the second request fails
		request(t, http.MethodPost, server.URL()+"/api/v1/namespaces/default/configmaps", "application/json", created)
	}
	request(t, http.MethodGet, server.URL()+"/api/v1/configmaps", "", "")
	request(t, http.MethodGet, server.URL()+"/api/v1/configmaps?timeout=1ns", "", "") // terminated
	awaitEvent(t, server.URL()+"/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0")
	request(t, http.MethodPost, server.URL()+"/api/v1/namespaces", "application/json", created)
	request(t, http.MethodDelete, server.URL()+"/api/v1/namespaces/a", "", "")
	for _, failurePolicy := range []string{"Ignore", "Fail"} {
		addUnreachableWebhook(t, server, failurePolicy)
	}
	request(t, http.MethodPost, server.URL()+"/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"b"}}`)
	await(t, func() bool {
		return missingMetric(t, server, `workqueue_work_duration_seconds_count\{name="namespace-controller"\} [1-9]\d*`) == ""
	})
	_, err := userOf(t, server, "jane").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	text := request(t, http.MethodGet, server.URL()+"/metrics", "", "")
	document, err := os.ReadFile("../../docs/metrics.md")
	check(t, err)

	served := map[string]string{}
	for _, match := range servedMetric.FindAllStringSubmatch(text, -1) {
		served[match[1]] = match[2]
	}
	documented := map[string]bool{}
	for _, match := range documentedMetric.FindAllStringSubmatch(string(document), -1) {
		name, kind, labels := match[1], match[2], match[3]
		documented[name] = true
		if served[name] != kind {
			t.Errorf("%s is documented as a %s and served as a %q", name, kind, served[name])
		}
		if got := labelsOf(text, name); !strings.Contains(labels, "...") && got != sortedList(labels) {
			t.Errorf("%s has the labels %q, documented are %q", name, got, sortedList(labels))
		}
	}
	ofProcess := regexp.MustCompile(`^(go|process|promhttp|grpc|etcd_(server|mvcc|debugging|disk|network|cluster|snap|grpc|lease))_`)
	for name := range served {
		if !documented[name] && !ofProcess.MatchString(name) {
			t.Errorf("%s is not documented", name)
		}
	}
}

// awaitEvent opens a watch and closes it after the first event.
func awaitEvent(t *testing.T, url string) {
	t.Helper()
	res, err := http.Get(url)
	check(t, err)
	defer res.Body.Close()
	_, err = bufio.NewReader(res.Body).ReadString('\n')
	check(t, err)
}

// addUnreachableWebhook adds a webhook for ConfigMaps to which no connection is possible.
func addUnreachableWebhook(t *testing.T, server *miniapi.Server, failurePolicy string) {
	t.Helper()
	name := strings.ToLower(failurePolicy)
	request(t, http.MethodPost, server.URL()+"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/json",
		`{"metadata":{"name":"`+name+`"},"webhooks":[{"name":"`+name+`.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"failurePolicy":"`+failurePolicy+`","clientConfig":{"url":"https://127.0.0.1:1/"},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]}]}`)
}

// labelsOf returns the labels of a metric, sorted.
func labelsOf(text, name string) string {
	match := regexp.MustCompile(`(?m)^` + name + `(?:_count)?(?:\{([^}]*)\})? `).FindStringSubmatch(text)
	if match == nil {
		return "none"
	}
	var names []string
	for _, pair := range regexp.MustCompile(`([a-z_]+)="`).FindAllStringSubmatch(match[1], -1) {
		names = append(names, pair[1])
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func sortedList(text string) string {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Every check of docs/metrics.md exists and passes on a new server.
func TestReadinessChecks(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Secure: &miniapi.Secure{}, Listen: "127.0.0.1:0"})
	for path, checks := range map[string][]string{
		"/livez":   {"ping", "etcd"},
		"/healthz": {"ping", "etcd", "serving-certificate"},
		"/readyz":  {"ping", "etcd", "serving-certificate", "etcd-readiness", "watch-cache", "informer-sync", "storage-space"},
	} {
		want := ""
		for _, name := range checks {
			want += "[+]" + name + " ok\n"
		}
		if got := request(t, http.MethodGet, server.PlainURL()+path+"?verbose", "", ""); got != want+strings.TrimPrefix(path, "/")+" check passed\n" {
			t.Errorf("%s is\n%s", path, got)
		}
	}
}

// Profiles are served on request only, and to users who may get their path.
func TestProfiling(t *testing.T) {
	off := servertest.Start(t, miniapi.Config{})
	if got := request(t, http.MethodGet, off.URL()+"/debug/pprof/", "", ""); !strings.Contains(got, "404 page not found") {
		t.Errorf("without Profiling: %.200s", got)
	}
	on := servertest.Start(t, miniapi.Config{Profiling: true, Authorization: miniapi.RBAC})
	for path, want := range map[string]string{
		"/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile: total", "/debug/pprof/cmdline": "Unknown profile",
	} {
		if got := request(t, http.MethodGet, on.URL()+path, "", ""); !strings.Contains(got, want) {
			t.Errorf("%s: %.200s", path, got)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, on.URL()+"/debug/pprof/heap", nil)
	check(t, err)
	req.Header.Set("Impersonate-User", "guest")
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	check(t, res.Body.Close())
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a user without a role: %s", res.Status)
	}
}

// missingMetric returns the first of the lines that /metrics lacks, "" if it has all. Lines are
// regular expressions.
func missingMetric(t *testing.T, server *miniapi.Server, lines ...string) string {
	t.Helper()
	text, err := servertest.Client(t, server.RESTConfig()).CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	check(t, err)
	for _, line := range lines {
		if !regexp.MustCompile(`(?m)^` + line + `$`).Match(text) {
			return line
		}
	}
	return ""
}

func expectMetrics(t *testing.T, server *miniapi.Server, lines ...string) {
	t.Helper()
	if line := missingMetric(t, server, lines...); line != "" {
		t.Errorf("no %s in the metrics", line)
	}
}

// Authentication and authorization are counted by result, for each server apart.
func TestAccessMetrics(t *testing.T) {
	config := miniapi.Config{Secure: &miniapi.Secure{}, Authorization: miniapi.RBAC}
	server, other := servertest.Start(t, config), servertest.Start(t, config)
	anonymous := rest.AnonymousClientConfig(server.RESTConfig())
	invalid := rest.CopyConfig(anonymous)
	invalid.BearerToken = "invalid"
	for _, user := range []*rest.Config{anonymous, invalid} {
		_, err := servertest.Client(t, user).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if err == nil {
			t.Error("the list is allowed")
		}
	}
	expectMetrics(t, server, `authentication_attempts\{result="error"\} 1`, `authentication_attempts\{result="success"\} [1-9]\d*`,
		`authentication_duration_seconds_count\{result="error"\} 1`, `authenticated_user_requests\{username="other"\} [1-9]\d*`,
		`authorization_attempts_total\{result="no-opinion"\} 1`, `authorization_attempts_total\{result="allowed"\} [1-9]\d*`,
		`authorization_duration_seconds_count\{result="no-opinion"\} 1`)
	expectMetrics(t, other, `authentication_attempts\{result="error"\} 0`, `authorization_attempts_total\{result="no-opinion"\} 0`)
}

// Decisions are counted by authorizer, and impersonations by mode.
func TestDecisionMetrics(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	_, err := userOf(t, server, "jane").CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	const mode = `\{decision="allowed",mode="user-info"\}`
	expectMetrics(t, server,
		`apiserver_authorization_decisions_total\{decision="allowed",name="alwaysallow",type="AlwaysAllow"\} 1`,
		`apiserver_authorization_decisions_total\{decision="denied",name="alwaysallow",type="AlwaysAllow"\} 0`,
		`apiserver_impersonation_attempts_total`+mode+` 1`, `apiserver_impersonation_attempts_duration_seconds_count`+mode+` 1`,
		`apiserver_impersonation_authorization_attempts_total`+mode+` 2`,
		`apiserver_impersonation_authorization_attempts_duration_seconds_count`+mode+` 2`)
}

// A request without credentials is a failure if such requests are rejected.
func TestMissingCredentialsMetrics(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{Secure: &miniapi.Secure{RejectAnonymous: true}})
	client := servertest.Client(t, rest.AnonymousClientConfig(server.RESTConfig()))
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}
	expectMetrics(t, server, `authentication_attempts\{result="failure"\} 1`, `authentication_attempts\{result="error"\} 0`)
}

// The queues of the built-in controllers are observed under the names of the controllers.
func TestWorkqueueMetrics(t *testing.T) {
	server := servertest.Start(t, miniapi.Config{})
	_, err := clientset(t, server).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	check(t, clientset(t, server).CoreV1().Namespaces().Delete(t.Context(), "a", metav1.DeleteOptions{}))
	await(t, func() bool {
		const queue = `\{name="namespace-controller"\}`
		return missingMetric(t, server, `workqueue_adds_total`+queue+` [1-9]\d*`, `workqueue_depth`+queue+` 0`,
			`workqueue_queue_duration_seconds_count`+queue+` [1-9]\d*`, `workqueue_work_duration_seconds_count`+queue+` [1-9]\d*`,
			`workqueue_retries_total`+queue+` \d+`) == ""
	})
}
