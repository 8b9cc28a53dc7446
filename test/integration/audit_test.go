package integration_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// startAudited starts a server with an audit log and a policy with rules in YAML. The returned
// function stops the server and returns the events of the log.
func startAudited(t *testing.T, config miniapi.Config, rules string) (*miniapi.Server, func() []auditv1.Event) {
	t.Helper()
	config.AuditLogPath = filepath.Join(t.TempDir(), "logs", "audit.log")
	if rules != "" {
		config.AuditPolicyFile = filepath.Join(t.TempDir(), "policy.yaml")
		text := "apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules
		check(t, os.WriteFile(config.AuditPolicyFile, []byte(text), 0o600))
	}
	server := servertest.Start(t, config)
	info, err := os.Stat(config.AuditLogPath)
	check(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != fs.FileMode(0o600) {
		t.Errorf("the file of the audit log has the mode %v", info.Mode())
	}
	return server, func() []auditv1.Event {
		check(t, servertest.Stop(server))
		data, err := os.ReadFile(config.AuditLogPath)
		check(t, err)
		var events []auditv1.Event
		for line := range strings.Lines(string(data)) {
			var event auditv1.Event
			check(t, json.Unmarshal([]byte(line), &event))
			events = append(events, event)
		}
		return events
	}
}

// summaries returns a line per event of the User-Agent tester/1.
func summaries(events []auditv1.Event) []string {
	var lines []string
	for _, e := range events {
		if e.UserAgent != "tester/1" {
			continue
		}
		line := fmt.Sprintf("%s %s %s", e.Level, e.Stage, e.Verb)
		if ref := e.ObjectRef; ref != nil {
			line += fmt.Sprintf(" %s %s/%s", ref.Resource, ref.Namespace, ref.Name)
		} else {
			line += " " + e.RequestURI
		}
		if e.ResponseStatus != nil {
			line += fmt.Sprintf(" %d%s", e.ResponseStatus.Code, e.ResponseStatus.Reason)
		}
		for _, body := range []struct {
			name string
			set  bool
		}{{"request", e.RequestObject != nil}, {"response", e.ResponseObject != nil}} {
			if body.set {
				line += " " + body.name
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAuditLogWithoutAPolicyHasTheMetadataOfEveryRequest(t *testing.T) {
	server, stop := startAudited(t, miniapi.Config{}, "")
	sendAll(t, server, "joe",
		`POST /api/v1/namespaces/default/configmaps {"metadata":{"name":"a","uid":""}}`,
		`GET /api/v1/namespaces/default/configmaps/none`,
		`GET /api/v1/configmaps?watch=true`,
		`GET /version`)
	events := stop()
	want := []string{
		"Metadata RequestReceived create configmaps default/",
		"Metadata ResponseComplete create configmaps default/a 201",
		"Metadata RequestReceived get configmaps default/none",
		"Metadata ResponseComplete get configmaps default/none 404NotFound",
		"Metadata RequestReceived watch configmaps /",
		"Metadata ResponseStarted watch configmaps / 200",
		"Metadata ResponseComplete watch configmaps / 200",
		"Metadata RequestReceived get /version",
		"Metadata ResponseComplete get /version 200",
	}
	if diff := cmp.Diff(want, summaries(events)); diff != "" {
		t.Error(diff)
	}
	for _, e := range events {
		if e.UserAgent == "tester/1" && (e.AuditID != "id" || e.User.Username != "system:admin" || len(e.SourceIPs) != 1 || e.SourceIPs[0] != "127.0.0.1") {
			t.Errorf("the event has the ID %q, user %v, addresses %v", e.AuditID, e.User, e.SourceIPs)
		}
		if e.Stage == auditv1.StageResponseComplete && e.UserAgent == "tester/1" && e.ImpersonatedUser.Username != "joe" {
			t.Errorf("the event has the impersonated user %v", e.ImpersonatedUser)
		}
	}
}

func TestAuditPolicySelectsEventsAndTheirObjects(t *testing.T) {
	server, stop := startAudited(t, miniapi.Config{}, `
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: Request, resources: [{group: "", resources: [secrets]}], omitStages: [ResponseStarted]}
- {level: None, nonResourceURLs: ["/version*"]}
- {level: None, users: ["system:admin"], verbs: [list]}
- {level: Metadata}
`)
	const configMaps, secrets = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/secrets"
	sendAll(t, server, "",
		`POST `+configMaps+` {"metadata":{"name":"a"},"data":{"k":"v"}}`,
		`PATCH `+configMaps+`/a {"data":{"k":"w"}}`,
		`PATCH `+configMaps+"/a?fieldManager=m apiVersion: v1\nkind: ConfigMap\ndata: {a b: c}",
		`PATCH `+configMaps+"/a apiVersion: v1\nkind: ConfigMap", // without a manager
		`GET `+configMaps,
		`DELETE `+configMaps+`/a {"propagationPolicy":"Background"}`,
		`POST `+secrets+` {"metadata":{"generateName":"s-"}}`,
		`GET `+secrets+`?watch=true`,
		`GET /api/v1/pods`,
		`GET /version`,
		`GET /livez`)
	events := stop()
	want := []string{
		"RequestResponse ResponseComplete create configmaps default/a 201 request response",
		"RequestResponse ResponseComplete patch configmaps default/a 200 request response",
		"RequestResponse ResponseComplete patch configmaps default/a 422Invalid request response",
		"RequestResponse ResponseComplete patch configmaps default/a 422Invalid response",
		"RequestResponse ResponseComplete list configmaps default/ 200 response",
		"RequestResponse ResponseComplete delete configmaps default/a 200 request response",
		"Request ResponseComplete create secrets default/ 201 request",
		"Request ResponseComplete watch secrets default/ 200",
		"Metadata ResponseComplete get /livez 200",
	}
	if diff := cmp.Diff(want, summaries(events)); diff != "" {
		t.Error(diff)
	}
	for i, parts := range map[int][2]string{
		0: {`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}}`, `"uid":`},
		1: {`{"data":{"k":"w"}}`, `"data":{"k":"w"}`},
		2: {`{"apiVersion":"v1","data":{"a b":"c"},"kind":"ConfigMap"}`, `"reason":"Invalid"`},
		5: {`{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Background"}`, `"status":"Success"`},
	} {
		if got := string(events[i].RequestObject.Raw); got != parts[0] {
			t.Errorf("event %d has the request %s", i, got)
		}
		if got := string(events[i].ResponseObject.Raw); !strings.Contains(got, parts[1]) || strings.Contains(got, "managedFields") {
			t.Errorf("event %d has the response %s", i, got)
		}
	}
}

func TestAuditLogHasProtobufObjectsInJSON(t *testing.T) {
	server, stop := startAudited(t, miniapi.Config{}, "rules: [{level: RequestResponse, resources: [{group: '', resources: [configmaps]}]}]")
	config := rest.CopyConfig(server.RESTConfig())
	config.ContentType, config.UserAgent = "application/vnd.kubernetes.protobuf", "tester/1"
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(t, err)
	_, err = client.CoreV1().ConfigMaps("none").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	events := stop()
	if len(events) != 4 {
		t.Fatalf("got %v", summaries(events))
	}
	for i, part := range map[int]string{1: `"kind":"ConfigMap","apiVersion":"v1"`, 3: `"items":[]`} {
		if got := string(events[i].ResponseObject.Raw); !strings.Contains(got, part) {
			t.Errorf("event %d has the response %s", i, got)
		}
	}
	if got := string(events[1].RequestObject.Raw); !strings.Contains(got, `"metadata":{"name":"a"`) {
		t.Errorf("the request is %s", got)
	}
}

func TestAuditLogHasDecisionsOfAuthorizationAndPolicies(t *testing.T) {
	server, stop := startAudited(t, miniapi.Config{Authorization: miniapi.RBAC}, "omitStages: [RequestReceived]\nrules: [{level: Metadata, resources: [{group: '', resources: [configmaps]}]}]")
	client := clientset(t, server)
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{"CREATE"},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations:      []admissionregistrationv1.Validation{{Expression: "object.metadata.name != 'a'", Message: "no a"}},
			AuditAnnotations: []admissionregistrationv1.AuditAnnotation{{Key: "name", ValueExpression: "string(object.metadata.name)"}},
		},
	}
	_, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
	check(t, err)
	_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: []admissionregistrationv1.ValidationAction{"Audit"}},
	}, metav1.CreateOptions{})
	check(t, err)
	sendAll(t, server, "", `POST /api/v1/namespaces/default/configmaps {"metadata":{"name":"a"}}`)
	sendAll(t, server, "joe", `GET /api/v1/namespaces/default/configmaps/a`)
	var got []map[string]string
	for _, event := range stop() {
		if event.UserAgent == "tester/1" {
			got = append(got, event.Annotations)
		}
	}
	want := []map[string]string{
		{
			"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "", "p/name": "a",
			"validation.policy.admission.k8s.io/validation_failure": `[{"message":"no a","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Audit"]}]`,
		},
		{"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAuditLogHasFailedAuthentication(t *testing.T) {
	server, stop := startAudited(t, miniapi.Config{}, "")
	config := rest.AnonymousClientConfig(server.RESTConfig())
	config.BearerToken, config.UserAgent = "wrong", "tester/1"
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	if _, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
		t.Fatal("a wrong token is accepted")
	}
	events := stop()
	want := []string{"Metadata ResponseStarted get configmaps default/a 401Unauthorized"}
	if diff := cmp.Diff(want, summaries(events)); diff != "" {
		t.Error(diff)
	}
}

func TestAuditConfigIsCheckedAtTheStart(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	check(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]"), 0o600))
	headless := filepath.Join(t.TempDir(), "headless.yaml")
	check(t, os.WriteFile(headless, []byte("rules: [{level: Metadata}]"), 0o600))
	for rule, tc := range map[string]struct {
		config miniapi.Config
		want   string
	}{
		"a policy without a kind":   {miniapi.Config{AuditLogPath: "-", AuditPolicyFile: headless}, "add apiVersion: audit.k8s.io/v1 and kind: Policy"},
		"a policy without a log":    {miniapi.Config{AuditPolicyFile: policy}, "set --audit-log-path"},
		"a policy that is missing":  {miniapi.Config{AuditLogPath: "-", AuditPolicyFile: policy + "x"}, "--audit-policy-file: open"},
		"an invalid level":          {miniapi.Config{AuditLogPath: "-", AuditPolicyFile: policy}, `rules[0].level: Unsupported value: "All"`},
		"a file that is not usable": {miniapi.Config{AuditLogPath: filepath.Join(policy, "log")}, "--audit-log-path: "},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := miniapi.Start(t.Context(), tc.config)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
