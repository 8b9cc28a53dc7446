package crd_test

import (
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
)

func TestResourceVersionsOfWrites(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	stale := e.widget("w", "spec: {a: 1}")
	fresh := stale.DeepCopy()
	if err := unstructured.SetNestedField(fresh.Object, int64(2), "spec", "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.widgets("v1").Update(t.Context(), fresh, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := e.widgets("v1").Update(t.Context(), stale, metav1.UpdateOptions{})
	wantStatus(t, err, 409, metav1.StatusReasonConflict,
		`Operation cannot be fulfilled on widgets.example.com "w": the object has been modified; please apply your changes to the latest version and try again`)
	stale.SetResourceVersion("")
	_, err = e.widgets("v1").Update(t.Context(), stale, metav1.UpdateOptions{})
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, `widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
	_, err = e.widgets("v1").Patch(t.Context(), "w", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	wantStatus(t, err, 415, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
}

func TestDryRunsWriteNothing(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer, default: 1}}}`))
	dry := []string{metav1.DryRunAll}
	created, err := e.widgets("v1").Create(t.Context(), object("v1", "w", "spec: {}"), metav1.CreateOptions{DryRun: dry})
	if err != nil || spec(created) != `{"a":1}` || created.GetUID() == "" {
		t.Errorf("got %s, %v", toJSON(created), err)
	}
	if got := len(e.list("v1").Items); got != 0 {
		t.Errorf("%d objects exist", got)
	}
	real := e.widget("w", "spec: {}")
	patched, err := e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"a":2}}`), metav1.PatchOptions{DryRun: dry})
	if err != nil || spec(patched) != `{"a":2}` || patched.GetGeneration() != 2 {
		t.Errorf("got %s, %v", toJSON(patched), err)
	}
	if err := e.widgets("v1").Delete(t.Context(), "w", metav1.DeleteOptions{DryRun: dry}); err != nil {
		t.Error(err)
	}
	if got := e.get("v1", "w"); toJSON(got) != toJSON(real) {
		t.Errorf("stored %s", toJSON(got))
	}
}

// The generation counts all changes. With a status subresource it excludes changes of the status.
func TestGeneration(t *testing.T) {
	for _, tc := range []struct {
		name  string
		edits []func(*definition)
		after map[string]int64
	}{
		{"with a status", []func(*definition){withStatus}, map[string]int64{`{"spec":{"a":2}}`: 2, `{"metadata":{"labels":{"a":"b"}}}`: 1, `{"status":{"a":2}}`: 1, `{"other":{"a":2}}`: 2}},
		{"without one", nil, map[string]int64{`{"spec":{"a":2}}`: 2, `{"metadata":{"labels":{"a":"b"}}}`: 1, `{"status":{"a":2}}`: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := start(t)
			e.create(define(strings.TrimSuffix(preserveUnknownFields, "}")+", other: {type: object, x-kubernetes-preserve-unknown-fields: true}}", tc.edits...))
			for patch, want := range tc.after {
				u := e.widget("", "spec: {a: 1}\nstatus: {a: 1}\nmetadata: {generateName: w-}")
				patched, err := e.widgets("v1").Patch(t.Context(), u.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if got := patched.GetGeneration(); u.GetGeneration() != 1 || got != want {
					t.Errorf("%s: from %d to %d, want %d", patch, u.GetGeneration(), got, want)
				}
			}
		})
	}
}

func TestStatusSubresource(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, withStatus))
	created := e.widget("w", "spec: {a: 1}\nstatus: {a: 1}")
	if got := field(created, "status"); got != "" {
		t.Errorf("created with status %s", got)
	}
	both := created.DeepCopy()
	both.Object["spec"], both.Object["status"] = map[string]any{"a": int64(2)}, map[string]any{"a": int64(2)}
	both.SetLabels(map[string]string{"a": "b"})
	written, err := e.widgets("v1").UpdateStatus(t.Context(), both, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec(written) != `{"a":1}` || field(written, "status") != `{"a":2}` || written.GetLabels() != nil || written.GetGeneration() != 1 {
		t.Errorf("got %s", toJSON(written))
	}
	both.SetResourceVersion(written.GetResourceVersion())
	both.Object["status"] = map[string]any{"a": int64(3)}
	written, err = e.widgets("v1").Update(t.Context(), both, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec(written) != `{"a":2}` || field(written, "status") != `{"a":2}` || written.GetGeneration() != 2 {
		t.Errorf("got %s", toJSON(written))
	}
}

// The scale client of autoscalers works with every kind.
func TestScale(t *testing.T) {
	e := start(t)
	e.create(define(`
spec: {type: object, properties: {size: {type: integer}, other: {type: string}}}
status: {type: object, properties: {size: {type: integer}, selector: {type: string}}}
`, withStatus, func(d *definition) {
		d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size", LabelSelectorPath: new(".status.selector"),
		}
	}))
	u := e.widget("w", "spec: {size: 3, other: x}")
	u.Object["status"] = map[string]any{"size": int64(2), "selector": "app=w"}
	if _, err := e.widgets("v1").UpdateStatus(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	scales := e.scales()
	s, err := scales.Get(t.Context(), schema.GroupResource{Group: group, Resource: "widgets"}, "w", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Spec.Replicas != 3 || s.Status.Replicas != 2 || s.Status.Selector != "app=w" || s.UID != u.GetUID() {
		t.Errorf("read %s", toJSON(s))
	}
	s.Spec.Replicas = 5
	if s, err = scales.Update(t.Context(), schema.GroupResource{Group: group, Resource: "widgets"}, s, metav1.UpdateOptions{}); err != nil || s.Spec.Replicas != 5 {
		t.Fatalf("wrote %s, %v", toJSON(s), err)
	}
	if got := e.get("v1", "w"); spec(got) != `{"other":"x","size":5}` || got.GetGeneration() != 2 || got.GetResourceVersion() != s.ResourceVersion {
		t.Errorf("stored %s", toJSON(got))
	}
	s.ResourceVersion = u.GetResourceVersion()
	_, err = scales.Update(t.Context(), schema.GroupResource{Group: group, Resource: "widgets"}, s, metav1.UpdateOptions{})
	wantStatus(t, err, 409, metav1.StatusReasonConflict,
		`Operation cannot be fulfilled on widgets.example.com "w": the object has been modified; please apply your changes to the latest version and try again`)

	// A Scale without a resourceVersion updates the latest object. An update of the object itself
	// needs a resourceVersion.
	s.ResourceVersion, s.Spec.Replicas = "", 7
	if s, err = scales.Update(t.Context(), schema.GroupResource{Group: group, Resource: "widgets"}, s, metav1.UpdateOptions{}); err != nil || s.Spec.Replicas != 7 {
		t.Fatalf("wrote %s without a resourceVersion, %v", toJSON(s), err)
	}
	if got := e.get("v1", "w"); spec(got) != `{"other":"x","size":7}` || got.GetResourceVersion() != s.ResourceVersion {
		t.Errorf("stored %s", toJSON(got))
	}
}

func TestScaleOfAnObjectWithoutReplicas(t *testing.T) {
	e := start(t)
	e.create(define("spec: {type: object, properties: {size: {type: integer}}}", withStatus, func(d *definition) {
		d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size",
		}
	}))
	e.widget("w", "")
	scales, resource := e.scales(), schema.GroupResource{Group: group, Resource: "widgets"}
	_, err := scales.Get(t.Context(), resource, "w", metav1.GetOptions{})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError,
		`Internal error occurred: the spec replicas field ".spec.size" does not exist`)
	patch := func(body string) error {
		_, err := scales.Patch(t.Context(), resource.WithVersion("v1"), "w", types.MergePatchType, []byte(body), metav1.PatchOptions{})
		return err
	}
	wantStatus(t, patch(`{"metadata":{"name":"w"}}`), 400, metav1.StatusReasonBadRequest,
		`the spec replicas field ".spec.size" cannot be empty`)
	if err := patch(`{"spec":{"replicas":2}}`); err != nil {
		t.Fatal(err)
	}
	if got := spec(e.get("v1", "w")); got != `{"size":2}` {
		t.Errorf("stored %s", got)
	}
}

func TestProtobufIsNotAcceptable(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.widget("w", "")
	for accept, want := range map[string]int{
		"application/vnd.kubernetes.protobuf":                   http.StatusNotAcceptable,
		"application/vnd.kubernetes.protobuf, application/json": http.StatusOK,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.server.RESTConfig().Host+"/apis/example.com/v1/namespaces/default/widgets/w", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		client := &http.Client{}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		client.CloseIdleConnections()
		if answer.StatusCode != want {
			t.Errorf("%s: got %s", accept, answer.Status)
		}
	}
}

// scales returns the scale client of autoscalers for widgets.
func (e *env) scales() scale.ScaleInterface {
	e.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}, meta.RESTScopeNamespace)
	config := e.server.RESTConfig()
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		e.Fatal(err)
	}
	client, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(documents))
	if err != nil {
		e.Fatal(err)
	}
	return client.Scales("default")
}
