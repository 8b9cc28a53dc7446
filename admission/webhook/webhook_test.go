package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestConfigurationsTakeEffectAtOnce(t *testing.T) {
	e := start(t)
	e.handle("/v", deny(nil))
	for range 20 {
		e.validating("v")
		if _, err := e.create(configMap("c")); err == nil {
			t.Fatal("the webhook is not called yet")
		}
		e.remove("v")
		if _, err := e.create(configMap("c")); err != nil {
			t.Fatalf("the webhook is still called: %v", err)
		}
		if err := e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReviewsAreExcluded(t *testing.T) {
	for release, want := range map[string][]string{"1.36": {"/all"}, "1.37": nil} {
		e := startWith(t, miniapi.Config{EmulatedVersion: release})
		e.validating("all", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = rules("*", "*", "*", "*") })
		must(t, e.client.AuthorizationV1().SelfSubjectAccessReviews().Create, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/", Verb: "get"}},
		})
		if diff := cmp.Diff(want, e.calls()); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", release, diff)
		}
	}
}

func TestSelectors(t *testing.T) {
	e := start(t)
	must(t, e.client.CoreV1().Namespaces().Create, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Labels: map[string]string{"guard": "yes"}}})
	e.validating("namespaces", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guard": "yes"}}
	})
	e.validating("objects", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guard": "yes"}}
	})
	e.validating("cluster", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.Rules = rules("*", "*", "*", "*")
		w.Rules[0].Scope = new(admissionregistrationv1.ClusterScope)
	})
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, e.calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
	labelled := configMap("labelled")
	labelled.Labels = map[string]string{"guard": "yes"}
	if _, err := e.create(labelled); err != nil {
		t.Fatal(err)
	}
	expect("/objects")
	guarded := configMap("c")
	guarded.Namespace = "guarded"
	must(t, e.client.CoreV1().ConfigMaps("guarded").Create, guarded)
	expect("/namespaces")
	// The old object still has the label.
	labelled.Labels = nil
	if _, err := e.client.CoreV1().ConfigMaps("default").Update(t.Context(), labelled, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("/objects")
	must(t, e.client.CoreV1().Namespaces().Create, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	expect("/cluster")
}

func TestMatchConditions(t *testing.T) {
	e := start(t)
	condition := func(text string) []admissionregistrationv1.MatchCondition {
		return []admissionregistrationv1.MatchCondition{{Name: "c", Expression: text}}
	}
	for _, c := range []struct {
		rule, expression string
		policy           admissionregistrationv1.FailurePolicyType
		called           bool
		message          string
	}{
		{"true calls the webhook", `object.metadata.name.startsWith("c")`, "Fail", true, ""},
		{"false skips the webhook", `object.metadata.name == "x"`, "Fail", false, ""},
		{"the variable request", `request.operation == "CREATE" && request.userInfo.username == "system:admin" && request.kind.kind == "ConfigMap" && oldObject == null`, "Fail", true, ""},
		{"the variable authorizer", `authorizer.group("").resource("pods").namespace("default").check("create").allowed()`, "Fail", true, ""},
		{"an error with failure policy Fail is a 403", `object.data.none == "x"`, "Fail", false,
			`configmaps "c" is forbidden: expression 'object.data.none == "x"' resulted in error: no such key: data`},
		{"an error with failure policy Ignore skips the webhook", `object.data.none == "x"`, "Ignore", false, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
				w.MatchConditions, w.FailurePolicy = condition(c.expression), &c.policy
			})
			_, err := e.create(configMap("c"))
			switch {
			case c.message != "":
				servertest.WantStatus(t, err, 403, metav1.StatusReasonForbidden, c.message)
			case err != nil:
				t.Fatal(err)
			default:
				if err := e.client.CoreV1().ConfigMaps("default").Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if called := len(e.calls()) > 0; called != c.called {
				t.Errorf("called: %v", called)
			}
			e.remove("v")
		})
	}
}

func TestDryRun(t *testing.T) {
	e := start(t)
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) {
		w.SideEffects = new(admissionregistrationv1.SideEffectClassNoneOnDryRun)
	})
	_, err := e.client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("c"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if got := e.one(); err != nil || !*got.DryRun {
		t.Errorf("dry run %v, error %v", *got.DryRun, err)
	}
	if _, err := e.create(configMap("c")); err != nil {
		t.Error("the dry run created the object: ", err)
	}
}

func TestWarnings(t *testing.T) {
	e := start(t)
	e.validating("v")
	e.handle("/v", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Warnings: []string{"first", "second", "first"}, Result: &metav1.Status{Message: "no"}}
	})
	if _, err := e.create(configMap("c")); err == nil {
		t.Error("the request was allowed")
	}
	if diff := cmp.Diff([]string{"first", "second"}, e.warnings.Take()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestConfigurationsAreExempt(t *testing.T) {
	e := start(t)
	everything := rules("*", "*", "*", "*")
	e.mutating("m", func(w *admissionregistrationv1.MutatingWebhook) { w.Rules = everything })
	e.validating("v", func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules = everything })
	e.remove("m")
	e.remove("v")
	if calls := e.calls(); len(calls) > 0 {
		t.Errorf("calls %v", calls)
	}
}

func TestAConflictCallsWebhooksAgain(t *testing.T) {
	e := start(t)
	if _, err := e.create(configMap("c")); err != nil {
		t.Fatal(err)
	}
	e.mutating("m")
	configMaps := e.client.CoreV1().ConfigMaps("default")
	raced := false
	e.handle("/m", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if !raced {
			raced = true
			if _, err := configMaps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"theirs":"yes"}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		return patch(`[{"op":"add","path":"/data/seen","value":"yes"}]`)(r)
	})
	got, err := configMaps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data":{"ours":"yes"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"ours": "yes", "theirs": "yes", "seen": "yes"}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if calls := e.calls(); len(calls) != 3 {
		t.Errorf("calls %v", calls)
	}
}
