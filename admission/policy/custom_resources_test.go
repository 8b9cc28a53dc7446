package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
	"spec":{"group":"example.org","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
				"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"size":{"type":"integer"}}}}}}}}}}]}}`

// An apply configuration for a custom resource is merged according to its schema.
func TestMutationOfCustomResources(t *testing.T) {
	e := start(t)
	post := func(path, body string) ([]byte, error) {
		return e.client.CoreV1().RESTClient().Post().AbsPath(path).Body([]byte(body)).Do(t.Context()).Raw()
	}
	if _, err := post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets); err != nil {
		t.Fatal(err)
	}
	constraints := matching("CREATE", "widgets")
	constraints.ResourceRules[0].APIGroups = []string{"example.org"}
	e.mutating("p", admissionregistrationv1.MutatingAdmissionPolicySpec{
		MatchConstraints: constraints,
		Mutations:        []admissionregistrationv1.Mutation{apply(`Object{spec: Object.spec{parts: [Object.spec.parts{name: "b", size: size(object.spec.parts)}]}}`)},
	}, admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{})
	created, err := post("/apis/example.org/v1/namespaces/default/widgets",
		`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"parts":[{"name":"a"},{"name":"b","size":7}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Spec struct{ Parts []map[string]any }
	}
	if err := json.Unmarshal(created, &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"name": "a"}, {"name": "b", "size": 2.0}}
	if diff := cmp.Diff(want, got.Spec.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
