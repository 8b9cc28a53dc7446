package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
	"spec":{"group":"example.org","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"size":{"type":"integer","maximum":5},"color":{"type":"string","default":"red"}}}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"size":{"type":"integer"}}}}}}}]}}`

// A webhook for one version of a custom resource is called for writes in the other version too.
// It receives the object converted to its version, without fields that this version lacks. The
// patched object is validated.
func TestEquivalentVersionsOfCustomResources(t *testing.T) {
	e := start(t)
	post := func(path, body string) ([]byte, error) {
		return e.client.CoreV1().RESTClient().Post().AbsPath(path).Body([]byte(body)).Do(t.Context()).Raw()
	}
	if _, err := post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets); err != nil {
		t.Fatal(err)
	}
	e.mutating("grow", func(w *admissionregistrationv1.MutatingWebhook) {
		w.Rules = rules("CREATE", "example.org", "v1", "widgets")
	})
	e.handle("/grow", patch(`[{"op":"replace","path":"/spec/size","value":4}]`))
	const v2 = "/apis/example.org/v2/namespaces/default/widgets"
	created, err := post(v2, `{"apiVersion":"example.org/v2","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion string
		Spec       map[string]any
	}
	if err := json.Unmarshal(created, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"size": 4.0}, got.Spec); diff != "" || got.APIVersion != "example.org/v2" {
		t.Errorf("version %s, spec (-want +got):\n%s", got.APIVersion, diff)
	}
	request := e.one()
	if request.Kind.Version != "v1" || request.RequestKind.Version != "v2" {
		t.Errorf("kind %v, request kind %v", request.Kind, request.RequestKind)
	}
	if err := json.Unmarshal(request.Object.Raw, &got); err != nil || got.APIVersion != "example.org/v1" {
		t.Errorf("object %s: %v", request.Object.Raw, err)
	}
	e.handle("/grow", patch(`[{"op":"replace","path":"/spec/size","value":6}]`))
	response, err := post("/apis/example.org/v1/namespaces/default/widgets", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"size":1}}`)
	if text := "spec.size in body should be less than or equal to 5"; err == nil || !strings.Contains(string(response), text) {
		t.Errorf("a size of 6: %v, %s", err, response)
	}
}
