package crd_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// gate is an admission webhook of widgets that holds its first request until release is called,
// and allows all requests.
type gate struct {
	held    chan struct{} // closed when the first request has arrived
	release func()
}

// installGate starts a gate for an operation on widgets.
func (e *env) installGate(operation admissionregistrationv1.OperationType) *gate {
	e.Helper()
	g := &gate{held: make(chan struct{})}
	released := make(chan struct{})
	g.release = sync.OnceFunc(func() { close(released) })
	var arrived atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if arrived.CompareAndSwap(false, true) {
			close(g.held)
			<-released
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		review.Request = nil
		if err := json.NewEncoder(w).Encode(review); err != nil {
			e.Error(err)
		}
	}))
	e.Cleanup(server.Close)
	e.Cleanup(g.release)
	e.createConfiguration(&admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "gate." + group, AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), TimeoutSeconds: new(int32(30)),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      new(server.URL),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{operation},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{"widgets"}},
			}},
		}},
	})
	return g
}

func (e *env) createConfiguration(configuration *admissionregistrationv1.MutatingWebhookConfiguration) {
	e.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
	if err != nil {
		e.Fatal(err)
	}
	resource := admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations")
	if _, err := e.client.Resource(resource).Create(e.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
}

const numbersSchema = `{spec: {type: object, properties: {a: {type: integer}, b: {type: integer}}}}`

// A patch begins before a field is added to the schema and reads the object after another client
// has set the field. The patch must not remove the field.
func TestPatchDuringAChangeOfTheSchemaKeepsNewFields(t *testing.T) {
	e := start(t)
	e.create(define(`{spec: {type: object, properties: {a: {type: integer}}}}`))
	e.widget("w", "spec: {a: 1}")
	gate := e.installGate(admissionregistrationv1.Update)
	patched := make(chan error, 1)
	go func() { patched <- e.patch("w", `{"spec":{"a":2}}`) }() // ends before the test
	<-gate.held
	e.change("widgets", func(d *definition) { d.Spec.Versions = define(numbersSchema).Spec.Versions })
	if err := e.patch("w", `{"spec":{"b":3}}`); err != nil {
		t.Error(err)
	}
	gate.release()
	if err := <-patched; err != nil {
		t.Error(err)
	}
	if got, want := spec(e.get("v1", "w")), `{"a":2,"b":3}`; got != want {
		t.Errorf("the spec is %s, want %s", got, want)
	}
}

// A deletion that begins before a field is added marks the object, and must not remove the field.
func TestDeletionDuringAChangeOfTheSchemaKeepsNewFields(t *testing.T) {
	e := start(t)
	e.create(define(`{spec: {type: object, properties: {a: {type: integer}}}}`))
	e.widget("w", "metadata: {finalizers: [example.com/f]}\nspec: {a: 1}")
	gate := e.installGate(admissionregistrationv1.Delete)
	deleted := make(chan error, 1)
	go func() { deleted <- e.widgets("v1").Delete(e.Context(), "w", metav1.DeleteOptions{}) }() // ends before the test
	<-gate.held
	e.change("widgets", func(d *definition) { d.Spec.Versions = define(numbersSchema).Spec.Versions })
	if err := e.patch("w", `{"spec":{"b":3}}`); err != nil {
		t.Error(err)
	}
	gate.release()
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	got := e.get("v1", "w")
	if want := `{"a":1,"b":3}`; spec(got) != want || got.GetDeletionTimestamp() == nil {
		t.Errorf("the spec is %s, deleted at %v, want %s", spec(got), got.GetDeletionTimestamp(), want)
	}
}

func (e *env) patch(name, body string) error {
	_, err := e.widgets("v1").Patch(e.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{})
	return err
}

// A creation in progress while the definition is deleted is either part of the deletion or fails:
// its object must not appear with the next definition of the same name.
func TestCreationDuringADeletionOfTheDefinitionLeavesNoObject(t *testing.T) {
	e := start(t)
	e.create(define(numbersSchema))
	gate := e.installGate(admissionregistrationv1.Create)
	created := make(chan error, 1)
	go func() { // ends before the test
		_, err := e.widgets("v1").Create(e.Context(), object("v1", "w", "spec: {a: 1}"), metav1.CreateOptions{})
		created <- err
	}()
	<-gate.held
	if err := e.definitions.Delete(e.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool {
		return d == nil || d.DeletionTimestamp != nil
	})
	gate.release()
	if err := <-created; err == nil || apierrors.IsInternalError(err) {
		t.Errorf("the creation returns %v", err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
	e.create(define(numbersSchema))
	if left := e.list("v1").Items; len(left) > 0 {
		t.Errorf("the new definition has %d objects", len(left))
	}
}
