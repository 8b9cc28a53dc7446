package webhook_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/servertest"
)

// trace appends its name to the value that the webhooks before it have written.
func trace(name string) handler {
	return func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		c := &corev1.ConfigMap{}
		if err := json.Unmarshal(r.Object.Raw, c); err != nil {
			panic(err)
		}
		return patch(fmt.Sprintf(`[{"op":"add","path":"/data","value":{"trace":%q}}]`, c.Data["trace"]+name))(r)
	}
}

func TestMutatingWebhooksAreOrderedByConfigurationName(t *testing.T) {
	e := start(t)
	for _, name := range []string{"b", "a", "c"} {
		e.handle("/"+name, trace(name))
		e.mutating(name)
	}
	created, err := e.create(configMap("x"))
	if err != nil {
		t.Fatal(err)
	}
	if created.Data["trace"] != "abc" || len(created.ManagedFields) > 0 {
		t.Errorf("trace %q, managers %v: fields set by webhooks must have no manager", created.Data["trace"], created.ManagedFields)
	}
}

func TestReinvocation(t *testing.T) {
	e := start(t)
	reinvocable := func(w *admissionregistrationv1.MutatingWebhook) {
		w.ReinvocationPolicy = new(admissionregistrationv1.IfNeededReinvocationPolicy)
	}
	label := func(name string) handler {
		return patch(fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/%s","value":"yes"}]`, name))
	}
	e.mutating("a", reinvocable)
	e.mutating("b")
	e.handle("/b", label("b"))
	e.mutating("c", reinvocable)
	e.handle("/c", label("c"))
	e.mutating("d", reinvocable)
	labelled := configMap("x")
	labelled.Labels = map[string]string{"l": ""}
	if _, err := e.create(labelled); err != nil {
		t.Fatal(err)
	}
	// b and c change the object after a; no webhook changes it after c and d.
	if diff := cmp.Diff([]string{"/a", "/b", "/c", "/d", "/a"}, e.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	labelled.Name = "y"
	labelled.Labels = map[string]string{"b": "yes", "c": "yes"}
	if _, err := e.create(labelled); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/a", "/b", "/c", "/d"}, e.calls()); diff != "" {
		t.Errorf("calls without changes (-want +got):\n%s", diff)
	}
}

func TestPatches(t *testing.T) {
	e := start(t)
	e.mutating("p", func(w *admissionregistrationv1.MutatingWebhook) {
		w.Rules = rules("CREATE DELETE", "", "v1", "services")
	})
	for _, c := range []struct {
		rule    string
		patch   string
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		{"an invalid object is a 422", `[{"op":"replace","path":"/spec/ports/0/port","value":0}]`, 422, metav1.StatusReasonInvalid,
			`Service "s" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`},
		{"a patch that cannot be applied is a 500", `[{"op":"remove","path":"/spec/nothing"}]`, 500, metav1.StatusReasonInternalError,
			`Internal error occurred: error in remove for path: '/spec/nothing': Unable to remove nonexistent key: nothing: missing value`},
		{"a patched object that cannot be decoded is a 500", `[{"op":"replace","path":"/spec/ports/0/port","value":"x"}]`, 500, metav1.StatusReasonInternalError,
			`Internal error occurred: json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32`},
		{"an invalid patch is a failure of the webhook", `{}`, 500, metav1.StatusReasonInternalError,
			`Internal error occurred: failed calling webhook "p.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.handle("/p", patch(c.patch))
			_, err := e.client.CoreV1().Services("default").Create(t.Context(), service("s"), metav1.CreateOptions{})
			servertest.WantStatus(t, err, c.code, c.reason, c.message)
		})
	}
	t.Run("defaults are set after the patch", func(t *testing.T) {
		e.handle("/p", patch(`[{"op":"add","path":"/spec/ports/-","value":{"name":"b","port":81}}]`))
		created := must(t, e.client.CoreV1().Services("default").Create, service("s"))
		if got := created.Spec.Ports[1]; got.Protocol != corev1.ProtocolTCP || got.TargetPort.IntValue() != 81 {
			t.Errorf("port %v", got)
		}
	})
	t.Run("a deletion cannot be patched", func(t *testing.T) {
		err := e.client.CoreV1().Services("default").Delete(t.Context(), "s", metav1.DeleteOptions{})
		servertest.WantStatus(t, err, 500, metav1.StatusReasonInternalError,
			`Internal error occurred: admission webhook "p.example.com" attempted to modify the object, which is not supported for this operation`)
	})
}

func service(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "a", Port: 80}}},
	}
}

func TestInvalidManagedFieldsAreDropped(t *testing.T) {
	e := start(t)
	e.mutating("m")
	e.handle("/m", patch(`[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Odd"}]}]`))
	c := configMap("x")
	c.Data = map[string]string{"a": "b"}
	created, err := e.create(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(created.ManagedFields) != 1 || created.ManagedFields[0].Manager == "x" {
		t.Errorf("managers %v", created.ManagedFields)
	}
	want := []string{".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; " +
		"please fix your requests: operation must be `Apply` or `Update`"}
	if diff := cmp.Diff(want, e.warnings.Take()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
