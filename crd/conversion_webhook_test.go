package crd_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/auth/certs"
	"github.com/miniapi/miniapi/internal/servertest"
)

const hostPort = `spec: {type: object, properties: {hostPort: {type: string}}}`

func TestWebhookConvertsVersions(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	created := e.widget("w", "spec: {hostPort: 'a:1'}")
	if calls := h.take(); len(calls) > 0 {
		t.Errorf("a conversion of the stored version: %v", calls)
	}
	w, err := e.widgets("v2").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	for _, u := range []*unstructured.Unstructured{
		e.get("v2", "w"), e.get("v2", "w"), e.next(w).Object.(*unstructured.Unstructured), &e.list("v2").Items[0],
	} {
		if got := spec(u); got != `{"host":"a","port":"1"}` || u.GetResourceVersion() != created.GetResourceVersion() || u.GetUID() != created.GetUID() {
			t.Errorf("got %s in version %s", got, u.GetResourceVersion())
		}
	}
	if calls := toJSON(h.take()); calls != `["apiextensions.k8s.io/v1: w in example.com/v1 to example.com/v2"]` {
		t.Errorf("conversions of one version of an object: %s", calls)
	}

	patched, err := e.widgets("v2").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"port":"2"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	event := e.next(w)
	if seen := event.Object.(*unstructured.Unstructured); event.Type != watch.Modified || spec(seen) != spec(patched) || seen.GetResourceVersion() != patched.GetResourceVersion() {
		t.Errorf("watched %s of %s", event.Type, toJSON(seen))
	}
	if got := spec(e.get("v1", "w")); got != `{"hostPort":"a:2"}` {
		t.Errorf("in v1 it is %s", got)
	}
}

func TestFirstSupportedReviewVersionIsSent(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h, func(c *apiextensionsv1.WebhookConversion) {
		c.ConversionReviewVersions = []string{"v7", "v1beta1", "v1"}
	})))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	// UID and kind of a v1beta1 response are not checked.
	h.set(func(review *apiextensionsv1.ConversionReview) {
		convertReview(review)
		review.Response.UID = "another"
	})
	if got := spec(e.get("v2", "w")); got != `{"host":"a","port":"1"}` {
		t.Errorf("got %s", got)
	}
	if calls := toJSON(h.take()); calls != `["apiextensions.k8s.io/v1beta1: w in example.com/v1 to example.com/v2"]` {
		t.Errorf("calls %s", calls)
	}
}

func TestConversionResponsesAreValidated(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}\nmetadata: {labels: {a: b}}")
	// change returns a response with one invalid object.
	change := func(edit func(u *unstructured.Unstructured)) func(*apiextensionsv1.ConversionReview) {
		return func(review *apiextensionsv1.ConversionReview) {
			convertReview(review)
			edit(review.Response.ConvertedObjects[0].Object.(*unstructured.Unstructured))
		}
	}
	const prefix = "conversion webhook for example.com/v1, Kind=Widget "
	for name, tc := range map[string]struct {
		respond func(*apiextensionsv1.ConversionReview)
		want    string
	}{
		"no response":    {func(r *apiextensionsv1.ConversionReview) { r.Response = nil }, prefix + "failed: no response provided"},
		"another kind":   {func(r *apiextensionsv1.ConversionReview) { r.APIVersion = "apiextensions.k8s.io/v1beta1" }, prefix + "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
		"another review": {func(r *apiextensionsv1.ConversionReview) { convertReview(r); r.Response.UID = "x" }, prefix + "failed: expected response.uid=\"ID\", got \"x\""},
		"no status":      {func(r *apiextensionsv1.ConversionReview) { r.Response.UID = r.Request.UID }, prefix + "failed: response.result.status was '', not 'Success'"},
		"a failure with a message": {func(r *apiextensionsv1.ConversionReview) {
			convertReview(r)
			r.Response.Result = metav1.Status{Status: "Failure", Message: "no"}
		}, prefix + "failed: no"},
		"no object":           {func(r *apiextensionsv1.ConversionReview) { convertReview(r); r.Response.ConvertedObjects = nil }, prefix + "returned 0 objects, expected 1"},
		"another version":     {change(func(u *unstructured.Unstructured) { u.SetAPIVersion("example.com/v1") }), prefix + "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)"},
		"another object kind": {change(func(u *unstructured.Unstructured) { u.SetKind("Gadget") }), prefix + "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)"},
		"another name":        {change(func(u *unstructured.Unstructured) { u.SetName("x") }), prefix + "returned invalid object: must have the same name: w != x"},
		"another namespace":   {change(func(u *unstructured.Unstructured) { u.SetNamespace("") }), prefix + "returned invalid object: must have the same namespace: default != "},
		"no metadata":         {change(func(u *unstructured.Unstructured) { delete(u.Object, "metadata") }), prefix + "returned invalid object: must have the same name: w != "},
		"a malformed label":   {change(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b c"}) }), prefix + `returned invalid metadata: metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		"a label that is no string": {change(func(u *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(u.Object, int64(1), "metadata", "labels", "a"); err != nil {
				panic(err)
			}
		}), prefix + "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
	} {
		t.Run(name, func(t *testing.T) {
			var uid types.UID
			h.set(func(review *apiextensionsv1.ConversionReview) {
				uid = review.Request.UID
				tc.respond(review)
			})
			_, err := e.widgets("v2").Get(t.Context(), "w", metav1.GetOptions{})
			servertest.WantStatus(t, err, 500, "", strings.Replace(tc.want, "ID", string(uid), 1))
		})
	}
}

func TestWebhooksMayChangeLabelsAndAnnotationsOnly(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	created := e.widget("w", "spec: {hostPort: 'a:1'}\nmetadata: {labels: {a: b}, annotations: {c: d}}")
	h.set(func(review *apiextensionsv1.ConversionReview) {
		convertReview(review)
		u := review.Response.ConvertedObjects[0].Object.(*unstructured.Unstructured)
		u.SetLabels(map[string]string{"e": "f"})
		u.SetAnnotations(nil)
		u.SetFinalizers([]string{"example.com/x"})
		u.SetGeneration(7)
		u.SetManagedFields(nil)
	})
	got := e.get("v2", "w")
	want := created.DeepCopy()
	want.SetLabels(map[string]string{"e": "f"})
	want.SetAnnotations(nil)
	if toJSON(got.Object["metadata"]) != toJSON(want.Object["metadata"]) {
		t.Errorf("got  %s\nwant %s", field(got, "metadata"), field(want, "metadata"))
	}
}

// An unreachable webhook affects neither requests in the stored version, nor other resources, nor
// the deletion of the definition.
func TestUnreachableWebhook(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	h.Config.SetKeepAlivesEnabled(false) // a kept connection would make the first request fail with EOF
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	if _, err := e.widgets("v2").Apply(t.Context(), "w", object("v2", "w", "metadata: {labels: {a: b}}"), metav1.ApplyOptions{FieldManager: "other"}); err != nil {
		t.Fatal(err)
	}
	h.Close()
	failed := fmt.Sprintf(`conversion webhook for example.com/v1, Kind=Widget failed: Post "%s/convert?timeout=30s": dial tcp %s: connect: connection refused`, h.URL, h.Listener.Addr())
	_, err := e.widgets("v2").Get(t.Context(), "w", metav1.GetOptions{})
	servertest.WantStatus(t, err, 500, "", failed)
	_, err = e.widgets("v2").List(t.Context(), metav1.ListOptions{})
	servertest.WantStatus(t, err, 500, "", failed)
	_, err = e.widgets("v2").Create(t.Context(), object("v2", "x", "spec: {host: a}"), metav1.CreateOptions{})
	servertest.WantStatus(t, err, 500, "", strings.Replace(failed, "/v1", "/v2", 1))
	for _, version := range []string{"v1", "v2"} { // a field manager of the object writes in v2
		_, err = e.widgets(version).Apply(t.Context(), "w", object(version, "w", "metadata: {labels: {c: d}}"), metav1.ApplyOptions{FieldManager: "m"})
		servertest.WantStatus(t, err, 500, "", failed)
	}

	e.get("v1", "w")
	e.create(define(preserveUnknownFields, renamedTo("gadgets", "Gadget")))
	if err := e.widgets("v2").Delete(t.Context(), "w", metav1.DeleteOptions{}); err != nil {
		servertest.WantStatus(t, err, 500, "", failed) // the response contains the object
	}
	if err := e.definitions.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
}

func TestConnectionsToWebhooksAreReusedAndClosed(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	for _, name := range []string{"a", "b", "c"} {
		e.widget(name, "spec: {hostPort: 'a:1'}")
	}
	if got := len(e.list("v2").Items); got != 3 {
		t.Fatalf("%d connections", got)
	}
	h.mu.Lock()
	if h.opened != 1 {
		t.Errorf("3 calls opened %d connections", h.opened)
	}
	h.mu.Unlock()
	if err := e.definitions.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
	h.Close() // waits for connections that are not idle
}

// After a change of the storage version an object is stored in the new version by its next write.
func TestStorageVersionChangesWithWebhook(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true })
	if got := spec(e.get("v1", "w")) + spec(e.get("v2", "w")); got != `{"hostPort":"a:1"}{"host":"a","port":"1"}` {
		t.Errorf("got %s", got)
	}
	if got := e.stored("w"); got != `example.com/v1 {"hostPort":"a:1"}` {
		t.Errorf("after a read the stored object is %s", got)
	}
	unchanged := e.get("v1", "w")
	updated, err := e.widgets("v1").Update(t.Context(), unchanged, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.stored("w"); got != `example.com/v2 {"host":"a","port":"1"}` || updated.GetResourceVersion() == unchanged.GetResourceVersion() {
		t.Errorf("after an update the stored object is %s", got)
	}
	if got := spec(e.get("v1", "w")); got != `{"hostPort":"a:1"}` {
		t.Errorf("in v1 it is %s", got)
	}
}

// A server stops at its deadline although a webhook does not respond.
func TestStopDuringConversion(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h, func(c *apiextensionsv1.WebhookConversion) {
		c.ClientConfig.URL = new("https://" + listener.Addr().String())
	})))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	failed := make(chan error)
	go func() {
		_, err := e.widgets("v2").Get(t.Context(), "w", metav1.GetOptions{})
		failed <- err
	}()
	conn, err := listener.Accept() // without a TLS handshake
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.server.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	if err := <-failed; err == nil {
		t.Error("the request succeeded")
	}
}

func TestServiceOfWebhookIsResolved(t *testing.T) {
	authority, err := certs.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.IssueServing("hooks.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	h := startWebhookServer(t)
	if h.TLS.Certificates[0], err = pair.TLS(); err != nil {
		t.Fatal(err)
	}
	e := startWith(t, miniapi.Config{ResolveService: func(_ context.Context, namespace, name string, port int32) (string, error) {
		if namespace != "default" || name != "hooks" || port != 443 {
			return "", fmt.Errorf("unexpected service %s/%s:%d", namespace, name, port)
		}
		return h.Listener.Addr().String(), nil
	}})
	e.create(define(hostPort, withConversion(h, func(c *apiextensionsv1.WebhookConversion) {
		c.ClientConfig = &apiextensionsv1.WebhookClientConfig{
			Service:  &apiextensionsv1.ServiceReference{Namespace: "default", Name: "hooks", Path: new("/convert")},
			CABundle: authority.CertificatePEM(),
		}
	})))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	if got := spec(e.get("v2", "w")); got != `{"host":"a","port":"1"}` {
		t.Errorf("got %s", got)
	}
}

func TestAdmissionReceivesTheRequestedVersion(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	for _, config := range []struct{ resource, kind, spec string }{
		{"mutatingadmissionpolicies", "MutatingAdmissionPolicy", `{
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: ["*"], resources: [widgets]}]},
  reinvocationPolicy: Never,
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "replace", path: "/spec/hostPort", value: object.spec.hostPort + "23"}]'}}]}`},
		{"mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", "{policyName: p}"},
	} {
		gv := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
		u := object("v1", "p", "spec: "+config.spec)
		u.SetGroupVersionKind(gv.WithKind(config.kind))
		if _, err := e.client.Resource(gv.WithResource(config.resource)).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	created, err := e.widgets("v2").Create(t.Context(), object("v2", "w", "spec: {host: a, port: '1'}"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := spec(created); got != `{"host":"a","port":"123"}` {
		t.Errorf("created %s", got)
	}
}
