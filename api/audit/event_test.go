package audit

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/miniapi/miniapi/registry"
)

// record returns the event that a policy makes of a request for a Secret with the given body.
func record(t *testing.T, policy, body string) *auditv1.Event {
	t.Helper()
	dir := t.TempDir()
	config := Config{Path: filepath.Join(dir, "log"), PolicyFile: filepath.Join(dir, "policy")}
	if err := os.WriteFile(config.PolicyFile, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n"+policy), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, annotations := registry.WithAuditAnnotations(t.Context())
	e := log.Begin(Request{
		Request: httptest.NewRequestWithContext(ctx, "PUT", "/api/v1/namespaces/default/secrets/a", nil),
		Access: registry.Access{
			User:     &authenticationv1.UserInfo{Username: "joe", Groups: []string{"staff"}},
			Resource: &authorizationv1.ResourceAttributes{Verb: "update", Version: "v1", Resource: "secrets", Namespace: "default", Name: "a"},
		},
		Annotations: annotations,
	})
	e.SetRequest([]byte(body))
	e.Stage(ResponseComplete)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(config.Path)
	if err != nil {
		t.Fatal(err)
	}
	if len(line) == 0 {
		return nil
	}
	event := &auditv1.Event{}
	if err := json.Unmarshal(line, event); err != nil {
		t.Fatal(err)
	}
	return event
}

func TestTheFirstMatchingRuleDecides(t *testing.T) {
	for rules, want := range map[string]auditv1.Level{
		"[{level: None, users: [joe]}, {level: Metadata}]":                                                     "",
		"[{level: None, users: [jim]}, {level: Request}]":                                                      "Request",
		"[{level: Request, userGroups: [staff]}, {level: Metadata}]":                                           "Request",
		"[{level: Request, verbs: [get]}, {level: Metadata}]":                                                  "Metadata",
		"[{level: Request, resources: [{group: apps}]}, {level: Metadata}]":                                    "Metadata",
		"[{level: Request, resources: [{group: '', resources: [secrets/status]}]}, {level: Metadata}]":         "Metadata",
		"[{level: Request, resources: [{resources: [secrets], resourceNames: [a]}]}, {level: Metadata}]":       "Request",
		"[{level: Request, namespaces: [other]}]":                                                              "",
		"[{level: Request, nonResourceURLs: ['*']}, {level: RequestResponse, omitStages: [ResponseComplete]}]": "",
	} {
		event := record(t, "rules: "+rules, "{}")
		if event == nil {
			event = &auditv1.Event{}
		}
		if event.Level != want {
			t.Errorf("%s: got the level %q, want %q", rules, event.Level, want)
		}
	}
}

func TestManagedFieldsAreOmittedOnRequest(t *testing.T) {
	const list = `{"items":[{"metadata":{"managedFields":[{}],"name":"a"}}],"metadata":{"managedFields":[],"resourceVersion":"1"},"rows":[{"object":{"metadata":{"managedFields":[{}]}}}]}`
	for policy, want := range map[string]string{
		"omitManagedFields: true\nrules: [{level: Request}]":                           `{"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"1"},"rows":[{"object":{"metadata":{}}}]}`,
		"omitManagedFields: true\nrules: [{level: Request, omitManagedFields: false}]": list,
	} {
		if got := string(record(t, policy, list).RequestObject.Raw); got != want {
			t.Errorf("%s: got %s", policy, got)
		}
	}
}

func TestLargeBodiesAreLeftOut(t *testing.T) {
	event := record(t, "rules: [{level: Request}]", `"`+strings.Repeat("x", MaxBody)+`"`)
	if event.RequestObject != nil || event.Annotations["audit.k8s.io/truncated"] != "true" {
		t.Errorf("got an object of %d bytes, annotations %v", len(event.RequestObject.Raw), event.Annotations)
	}
}
