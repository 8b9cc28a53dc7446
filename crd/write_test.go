package crd_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"

	"github.com/miniapi/miniapi/internal/servertest"
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
	servertest.WantStatus(t, err, 409, metav1.StatusReasonConflict,
		`Operation cannot be fulfilled on widgets.example.com "w": the object has been modified; please apply your changes to the latest version and try again`)
	stale.SetResourceVersion("")
	_, err = e.widgets("v1").Update(t.Context(), stale, metav1.UpdateOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, `widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
	for _, contentType := range []types.PatchType{types.StrategicMergePatchType, "application/json"} {
		_, err = e.widgets("v1").Patch(t.Context(), "w", contentType, []byte(`{}`), metav1.PatchOptions{})
		servertest.WantStatus(t, err, 415, metav1.StatusReasonUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
	_, err = e.widgets("v1").Get(t.Context(), "w", metav1.GetOptions{}, "none")
	servertest.WantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.example.com "w" not found`)
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
	servertest.WantStatus(t, err, 409, metav1.StatusReasonConflict,
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
	servertest.WantStatus(t, err, 500, metav1.StatusReasonInternalError,
		`Internal error occurred: the spec replicas field ".spec.size" does not exist`)
	patch := func(body string) error {
		_, err := scales.Patch(t.Context(), resource.WithVersion("v1"), "w", types.MergePatchType, []byte(body), metav1.PatchOptions{})
		return err
	}
	servertest.WantStatus(t, patch(`{"metadata":{"name":"w"}}`), 400, metav1.StatusReasonBadRequest,
		`the spec replicas field ".spec.size" cannot be empty`)
	if err := patch(`{"spec":{"replicas":2}}`); err != nil {
		t.Fatal(err)
	}
	if got := spec(e.get("v1", "w")); got != `{"size":2}` {
		t.Errorf("stored %s", got)
	}
}

// A write of the scale takes the replicas from their owners, by the path of each owner's version.
func TestManagersOfReplicasInTwoVersions(t *testing.T) {
	e := start(t)
	const properties = "spec: {type: object, properties: {size: {type: integer}, count: {type: integer}}}"
	e.create(define(properties, func(d *definition) {
		d.Spec.Versions = append(d.Spec.Versions, versionOf("v2", properties))
		for i, path := range []string{".spec.size", ".spec.count"} {
			d.Spec.Versions[i].Subresources = &apiextensionsv1.CustomResourceSubresources{
				Scale: &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: path, StatusReplicasPath: ".status.size"},
			}
		}
	}))
	e.widget("w", "spec: {size: 1, count: 1}")
	resource := schema.GroupVersionResource{Group: group, Version: "v2", Resource: "widgets"}
	body := []byte(`{"spec":{"replicas":5}}`)
	if _, err := e.scales().Patch(t.Context(), resource, "w", types.MergePatchType, body, metav1.PatchOptions{FieldManager: "scaler"}); err != nil {
		t.Fatal(err)
	}
	owned := map[string]string{}
	for _, entry := range e.get("v1", "w").GetManagedFields() {
		owned[entry.APIVersion+" "+entry.Subresource] = string(entry.FieldsV1.Raw)
	}
	want := map[string]string{
		"example.com/v1 ":      `{"f:spec":{".":{},"f:count":{}}}`,
		"example.com/v2 scale": `{"f:spec":{"f:count":{}}}`,
	}
	if diff := cmp.Diff(want, owned); diff != "" {
		t.Errorf("managed fields (-want +got):\n%s", diff)
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

// kube-apiserver stores custom resources in CBOR with the feature gate CBORServingAndStorage.
func TestObjectStoredInCBOR(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	created := e.widget("w", "spec: {int: 1, float: 1.5, list: [true, null, x]}")
	key := "/registry/" + group + "/widgets/default/w"
	response, err := e.server.EtcdClient().Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	stored := &unstructured.Unstructured{}
	if err := stored.UnmarshalJSON(response.Kvs[0].Value); err != nil {
		t.Fatal(err)
	}
	inCBOR, err := runtime.Encode(cbor.NewSerializer(nil, nil), stored)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.server.EtcdClient().Put(t.Context(), key, string(inCBOR)); err != nil {
		t.Fatal(err)
	}
	read := e.get("v1", "w")
	if spec(read) != spec(created) || read.GetUID() != created.GetUID() {
		t.Errorf("read as %s, created as %s", toJSON(read), toJSON(created))
	}
	if _, err := e.widgets("v1").Update(t.Context(), read, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := e.stored("w"); got != "example.com/v1 "+spec(created) {
		t.Errorf("after an update the stored JSON is %s", got)
	}
}

func TestObjectsOfAnotherKindAreInvalid(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.widget("w", "")
	const want = `Gadget.example.com "w" is invalid: kind: Invalid value: "Gadget": must be Widget`
	other := object("v1", "w", "")
	other.SetKind("Gadget")
	_, err := e.widgets("v1").Create(t.Context(), other, metav1.CreateOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, want)
	_, err = e.widgets("v1").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"kind":"Gadget"}`), metav1.PatchOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, want)
	_, err = e.widgets("v1").Update(t.Context(), other, metav1.UpdateOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, want)
	other.SetResourceVersion("1")
	if _, err = e.widgets("v1").Update(t.Context(), other, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
}

// kube-apiserver has no conversion for it either, and answers with a 500.
func TestApplyOfScaleIsRejected(t *testing.T) {
	e := start(t)
	e.create(define("spec: {type: object, properties: {size: {type: integer}}}", withStatus, func(d *definition) {
		d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size",
		}
	}))
	e.widget("w", "spec: {size: 1}")
	body := []byte(`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"w"},"spec":{"replicas":2}}`)
	_, err := e.widgets("v1").Patch(t.Context(), "w", types.ApplyYAMLPatchType, body, metav1.PatchOptions{FieldManager: "m"}, "scale")
	servertest.WantStatus(t, err, 400, metav1.StatusReasonBadRequest, "failed to convert new object (/w; autoscaling/v1, Kind=Scale) "+
		"to proper version: request to convert CR to an invalid group/version: autoscaling/v1")
}

// The handler of custom resources answers requests that it does not support with texts of its own,
// and leaves paths that no custom resource has to others.
func TestUnsupportedRequests(t *testing.T) {
	e := start(t)
	e.create(define("spec: {type: object, properties: {size: {type: integer}}}", withStatus, func(d *definition) {
		d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.size",
		}
		d.Spec.Versions[0].Deprecated = true
	}))
	e.widget("w", "spec: {size: 1}")
	e.warnings.Take()
	_, err := e.widgets("v1").Get(t.Context(), "w", metav1.GetOptions{}, "none")
	if warnings := e.warnings.Take(); !apierrors.IsNotFound(err) || len(warnings) != 1 {
		t.Errorf("an unknown subresource: %v, warnings %q", err, warnings)
	}
	send := func(verb, path, contentType, body string) error {
		return e.rest.Verb(verb).AbsPath("/apis/example.com/v1"+path).SetHeader("Content-Type", contentType).Body([]byte(body)).Do(t.Context()).Error()
	}
	const merge, strategic, plain = "application/merge-patch+json", "application/strategic-merge-patch+json", "404 page not found"
	for _, tc := range []struct {
		verb, path, contentType, body string
		code                          int32
		want                          string
	}{
		{"DELETE", "/namespaces/default/widgets/w/status", "", "", 405, `delete is not supported on resources of kind "widgets.example.com"`},
		{"POST", "/namespaces/default/widgets/w/scale", "application/json", "{}", 405, `create is not supported on resources of kind "widgets.example.com"`},
		{"PATCH", "/namespaces/default/widgets/w/scale", strategic, `{"spec":{"replicas":1}}`, 415, "the body of the request was in an unknown format"},
		{"PATCH", "/namespaces/default/widgets/w/scale", merge, `{"spec":{"replicas":-1}}`, 422, `Widget.example.com "w" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer`},
		{"PATCH", "/namespaces/default/widgets/w", merge, `{"metadata":{"uid":"x"}}`, 422, // two causes
			`metadata.uid: Invalid value: "x": field is immutable Invalid value: "x": field is immutable Invalid value: "x": field is immutable`},
		{"GET", "/widgets/w", "", "", 404, plain},
		{"POST", "/widgets", "application/json", "{}", 404, plain},
		{"GET", "/namespaces/default/gadgets", "", "", 404, plain},
		{"GET", "/widgets", "", "", 0, ""},
	} {
		err := send(tc.verb, tc.path, tc.contentType, tc.body)
		status := metav1.Status{}
		if s, ok := err.(apierrors.APIStatus); ok {
			status = s.Status()
		}
		text := status.Message
		if status.Details != nil {
			for _, cause := range status.Details.Causes {
				text += " " + cause.Message
			}
		}
		if status.Code != tc.code || !strings.Contains(text, tc.want) {
			t.Errorf("%s %s: %v (%s)", tc.verb, tc.path, err, text)
		}
	}
}
