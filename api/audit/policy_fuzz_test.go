package audit

import (
	"strings"
	"testing"

	auditapi "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// A policy file is an error in one line, or a policy that selects a level for every request.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
		"apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: RequestResponse\n  verbs: [create]\n  resources:\n  - group: apps\n    resources: [deployments/*]\n  namespaces: [default]\n- level: None\n  nonResourceURLs: [/healthz*]\n",
		"apiVersion: audit.k8s.io/v1\nkind: Policy\nomitManagedFields: true\nrules:\n- level: Request\n  users: [a]\n  userGroups: ['system:nodes']\n  resources: [{resources: [pods], resourceNames: [web]}]\n  omitStages: [ResponseStarted]\n  omitManagedFields: false\n",
		`{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Most"}]}`,
		"rules: [", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		policy, err := parsePolicy("policy.yaml", []byte(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		evaluator := newEvaluator(policy)
		for _, request := range []authorizer.AttributesRecord{
			{Verb: "create", ResourceRequest: true, APIGroup: "apps", APIVersion: "v1", Resource: "deployments", Subresource: "scale", Namespace: "default", Name: "web"},
			{Verb: "get", Path: "/healthz/ping"},
		} {
			switch level := evaluator.EvaluatePolicyRule(request).Level; level {
			case auditapi.LevelNone, auditapi.LevelMetadata, auditapi.LevelRequest, auditapi.LevelRequestResponse:
			default:
				t.Errorf("level %q", level)
			}
		}
	})
}
