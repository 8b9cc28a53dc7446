package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyFor returns a policy for one resource, given as GROUP/VERSION/NAME.
func policyFor(name, resource string, expressions ...string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	parts := strings.SplitN(resource, "/", 3)
	constraints := matching("CREATE", parts[2])
	constraints.ResourceRules[0].APIGroups, constraints.ResourceRules[0].APIVersions = parts[:1], parts[1:2]
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: constraints, Validations: validations(expressions...),
			Variables: []admissionregistrationv1.Variable{
				{Name: "replicas", Expression: "object.spec.replicas"}, {Name: "broken", Expression: "object.spec.nothing"},
			},
		},
	}
}

// The texts are the output of TypeChecker in k8s.io/apiserver for the same policies, without the
// excerpt of the expression.
func TestExpressionsAreCheckedAgainstTypes(t *testing.T) {
	e := start(t)
	const deployments = "apps/v1/deployments"
	for rule, tc := range map[string]struct {
		resource, expression string
		want                 []string
	}{
		"an existing field":                  {deployments, "object.spec.replicas > 1", nil},
		"an unknown field":                   {deployments, "object.spec.size > 1", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'size'"}},
		"an unknown field of oldObject":      {deployments, "oldObject.spec.size > 1", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:15: undefined field 'size'"}},
		"a field compared with a wrong type": {deployments, "object.spec.replicas == 'one'", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'"}},
		"a variable of a wrong type":         {deployments, "variables.replicas == 'one'", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:20: found no matching overload for '_==_' applied to '(int, string)'"}},
		"a variable that cannot be typed":    {deployments, "variables.broken == 'one'", nil},
		"a nested list":                      {deployments, "object.spec.template.spec.containers.all(c, c.livenessProbe.httpGet.portt == 80)", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:68: undefined field 'portt'"}},
		"an IntOrString is dynamic":          {deployments, "object.spec.strategy.rollingUpdate.maxSurge == '1'", nil},
		"a time":                             {deployments, "object.metadata.creationTimestamp == 'now'", []string{"apps/v1, Kind=Deployment: ERROR: <input>:1:35: found no matching overload for '_==_' applied to '(timestamp, string)'"}},
		"bytes":                              {"/v1/secrets", "object.data.key == 'text'", []string{"/v1, Kind=Secret: ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(bytes, string)'"}},
		"a recursive type":                   {"apiextensions.k8s.io/v1/customresourcedefinitions", "object.spec.versions.all(v, v.schema.openAPIV3Schema.minimum == 'a')", []string{"apiextensions.k8s.io/v1, Kind=CustomResourceDefinition: ERROR: <input>:1:62: found no matching overload for '_==_' applied to '(double, string)'"}},
		"the group \"\" matches all groups":  {"/v1/events", "object.message == ''", []string{"events.k8s.io/v1, Kind=Event: ERROR: <input>:1:7: undefined field 'message'"}},
		"an error in several kinds":          {"/v1/events", "object.text == ''", []string{"/v1, Kind=Event: ERROR: <input>:1:7: undefined field 'text'", "events.k8s.io/v1, Kind=Event: ERROR: <input>:1:7: undefined field 'text'"}},
		"a version wildcard is not checked":  {"apps/*/deployments", "object.nothing == 1", nil},
		"a group wildcard is not checked":    {"*/v1/deployments", "object.nothing == 1", nil},
		"subresources are not checked":       {"apps/v1/deployments/status", "object.nothing == 1", nil},
	} {
		t.Run(rule, func(t *testing.T) {
			created, err := e.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(),
				policyFor("dry", tc.resource, "true", tc.expression), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, warning := range created.Status.TypeChecking.ExpressionWarnings {
				if warning.FieldRef != "spec.validations[1].expression" {
					t.Errorf("warning for field %s", warning.FieldRef)
				}
				for line := range strings.SplitSeq(warning.Warning, "\n") {
					if strings.Contains(line, "ERROR") {
						got = append(got, line)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessagesAndParamsAreChecked(t *testing.T) {
	e := start(t)
	policy := policyFor("p", "/v1/configmaps", "object.data == params.dat", "true")
	policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	policy.Spec.Validations[1].MessageExpression = "string(object.dat)"
	created := must(t, e.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create, policy)
	want := []admissionregistrationv1.ExpressionWarning{
		{FieldRef: "spec.validations[0].expression", Warning: "/v1, Kind=ConfigMap: ERROR: <input>:1:22: undefined field 'dat'\n | object.data == params.dat\n | .....................^\n"},
		{FieldRef: "spec.validations[1].messageExpression", Warning: "/v1, Kind=ConfigMap: ERROR: <input>:1:14: undefined field 'dat'\n | string(object.dat)\n | .............^\n"},
	}
	if diff := cmp.Diff(want, created.Status.TypeChecking.ExpressionWarnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// A policy is checked only when its generation changes.
func TestPoliciesAreCheckedOncePerGeneration(t *testing.T) {
	e := start(t)
	policies := e.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	created := must(t, policies.Create, policyFor("p", "example.org/v1/widgets", "object.spec.parts == 1", "object.metadata.name == 1"))
	if created.Status.TypeChecking != nil {
		t.Errorf("a policy for a missing resource was checked: %+v", created.Status)
	}
	check := func(when string, policy *admissionregistrationv1.ValidatingAdmissionPolicy, generation int64, warnings int) {
		t.Helper()
		if got := policy.Status; got.ObservedGeneration != generation || got.TypeChecking == nil || len(got.TypeChecking.ExpressionWarnings) != warnings {
			t.Errorf("%s: the status is %+v, want generation %d and %d warnings", when, got, generation, warnings)
		}
	}
	if err := e.client.CoreV1().RESTClient().Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").
		Body([]byte(widgets)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	created.Labels = map[string]string{"a": "b"}
	labelled, err := policies.Update(t.Context(), created, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if labelled.Status.TypeChecking != nil {
		t.Errorf("a new label caused a check: %+v", labelled.Status)
	}
	labelled.Spec.Validations = append(labelled.Spec.Validations, validations("object.spec.parts.all(p, p.size > 1)")...)
	changed, err := policies.Update(t.Context(), labelled, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check("after a change", changed, 2, 2)
	changed.Spec.Validations = changed.Spec.Validations[2:]
	changed.Status = admissionregistrationv1.ValidatingAdmissionPolicyStatus{}
	changed, err = policies.Update(t.Context(), changed, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check("without the wrong expressions", changed, 3, 0)
}
