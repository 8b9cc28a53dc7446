package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
	"github.com/miniapi/miniapi/testapi/faults"
)

// startAPI starts a server with the test APIs and returns a client of the faults.
func startAPI(t *testing.T) (*env, dynamic.ResourceInterface) {
	t.Helper()
	e := startWith(t, miniapi.Config{Controllers: []string{"-*"}, TestAPIs: true})
	httpClient := servertest.HTTPClient(t, e.server.RESTConfig())
	client, err := dynamic.NewForConfigAndClient(e.server.RESTConfig(), httpClient)
	e.check(err)
	return e, client.Resource(schema.GroupVersionResource{Group: "miniapi.dev", Version: "v1alpha1", Resource: "faults"})
}

// fault returns the object of a fault with a spec in YAML.
func fault(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := "apiVersion: miniapi.dev/v1alpha1\nkind: Fault\nmetadata: {name: " + name + "}\nspec: " + spec
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func injected(u *unstructured.Unstructured) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, "status", "injected")
	return n
}

const failGets = "{match: {verbs: [get], resources: [configmaps]}, effect: {status: {code: 503}}}"

func TestFaultObjectIsActive(t *testing.T) {
	e, api := startAPI(t)
	_, err := api.Create(t.Context(), fault(t, "gets", failGets), metav1.CreateOptions{})
	e.check(err)
	if _, err := e.get("a"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("with a fault: %v", err)
	}
	stored, err := api.Get(t.Context(), "gets", metav1.GetOptions{})
	e.check(err)
	last, _, _ := unstructured.NestedString(stored.Object, "status", "lastRequest")
	if injected(stored) != 1 || last != "GET /api/v1/namespaces/default/configmaps/a" {
		t.Errorf("status %v", stored.Object["status"])
	}
	e.check(unstructured.SetNestedField(stored.Object, int64(404), "spec", "effect", "status", "code"))
	changed, err := api.Update(t.Context(), stored, metav1.UpdateOptions{})
	e.check(err)
	if _, err := e.get("a"); !apierrors.IsNotFound(err) || changed.GetGeneration() != 2 || injected(changed) != 0 {
		t.Errorf("after a change: %v, generation %d, %d injected", err, changed.GetGeneration(), injected(changed))
	}
	if _, err := api.Update(t.Context(), stored, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale update: %v", err)
	}
	e.check(e.create("a"))
	e.check(api.Delete(t.Context(), "gets", metav1.DeleteOptions{}))
	if _, err := e.get("a"); err != nil {
		t.Errorf("after the deletion: %v", err)
	}
}

func TestFaultsOfGoAreObjects(t *testing.T) {
	e, api := startAPI(t)
	f := e.faults.Conflict(faults.On("update", "deployments/status").Times(2))
	stored, err := api.Get(t.Context(), f.ID, metav1.GetOptions{})
	e.check(err)
	want := map[string]any{
		"match":  map[string]any{"verbs": []any{"update"}, "resources": []any{"deployments/status"}, "count": int64(2)},
		"effect": map[string]any{"conflict": map[string]any{}},
	}
	if diff := cmp.Diff(want, stored.Object["spec"]); diff != "" || stored.GetUID() == "" || stored.GetCreationTimestamp() == (metav1.Time{}) {
		t.Errorf("%s %v", diff, stored.Object["metadata"])
	}
	_, err = api.Create(t.Context(), fault(t, f.ID, failGets), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("an object with the same name: %v", err)
	}
	if _, err := e.faults.Add(faults.Fault{Name: f.ID, Effect: faults.Effect{Compact: &faults.Compact{}}}); err == nil {
		t.Error("a second fault with the same name is accepted")
	}
	e.check(api.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	if list := e.faults.List(); len(list) != 0 {
		t.Errorf("%d faults are left", len(list))
	}
	f.Remove()
}

func TestWatchReportsCounts(t *testing.T) {
	e, api := startAPI(t)
	w, err := api.Watch(t.Context(), metav1.ListOptions{})
	e.check(err)
	defer w.Stop()
	f := e.faults.Error(faults.On("get", "configmaps"), 503)
	_, _ = e.get("a")
	_, _ = e.get("a")
	f.Remove()
	for _, want := range []string{"ADDED 0", "MODIFIED 1", "MODIFIED 2", "DELETED 2"} {
		event := <-w.ResultChan()
		if got := fmt.Sprint(event.Type, " ", injected(event.Object.(*unstructured.Unstructured))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestStatusIsReadOnly(t *testing.T) {
	e, api := startAPI(t)
	u := fault(t, "gets", failGets)
	e.check(unstructured.SetNestedField(u.Object, int64(7), "status", "injected"))
	stored, err := api.Create(t.Context(), u, metav1.CreateOptions{})
	e.check(err)
	patched, err := api.Patch(t.Context(), "gets", types.MergePatchType, []byte(`{"status":{"injected":9}}`), metav1.PatchOptions{})
	e.check(err)
	if injected(stored) != 0 || injected(patched) != 0 || patched.GetResourceVersion() != stored.GetResourceVersion() {
		t.Errorf("status %v and %v", stored.Object["status"], patched.Object["status"])
	}
}

func TestInvalidFaults(t *testing.T) {
	_, api := startAPI(t)
	for spec, want := range map[string]string{
		"{effect: {}}":                                                "spec.effect: Required value: set exactly one of",
		"{effect: {conflict: {}, reset: {}}}":                         "spec.effect: Forbidden: set exactly one of",
		"{effect: {status: {code: 200}}}":                             "spec.effect.status.code: Invalid value: 200: must be from 400 to 599",
		"{effect: {status: {code: many}}}":                            "spec.effect.status.code: Invalid value: \"many\": must be of type integer",
		"{effect: {latency: {duration: soon}}}":                       "spec.effect.latency.duration: Invalid value: \"soon\": must be of type duration, such as 100ms",
		"{effect: {watch: {endAfter: -1}}}":                           "spec.effect.watch.endAfter: Invalid value: -1: must not be negative",
		"{effect: {etcd: {unavailable: true, noSpace: true}}}":        "spec.effect.etcd.noSpace: Forbidden: unavailable is set",
		"{effect: {stale: {resourceVersion: x}}}":                     "spec.effect.stale.resourceVersion: Invalid value: \"x\"",
		"{effect: {stale: {resourceVersion: '999999'}}}":              "spec.effect.stale: Forbidden:",
		"{effect: {compact: {}}, match: {probability: 2}}":            "spec.match.probability: Invalid value: 2: must be from 0 to 1",
		"{effect: {compact: {}}, match: {verbs: [get, List]}}":        "spec.match.verbs[1]: Invalid value: \"List\": must be in lower case",
		"{effect: {compact: {}}, match: {labelSelector: 'a in b'}}":   "spec.match.labelSelector: Invalid value: \"a in b\"",
		"{effect: {compact: {}}, match: {verbs: get}}":                "spec.match.verbs: Invalid value: \"get\": must be of type array",
		"{effect: {compact: {}}, match: [get]}":                       "spec.match: Invalid value: [\"get\"]: must be of type object",
		"{effect: {compact: {}}, match: {perObject: 1, duration: 5}}": "spec.match.perObject: Invalid value: 1: must be of type boolean",
		"{effect: {reset: {afterWrite: true, afterBytes: 3}}}":        "spec.effect.reset.afterWrite: Forbidden: afterBytes includes the write",
	} {
		_, err := api.Create(t.Context(), fault(t, "invalid", spec), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
	_, err := api.Create(t.Context(), fault(t, "unknown", "{effect: {conflicts: {}}, matches: 1}"), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if want := `unknown field "spec.effect.conflicts", unknown field "spec.matches"`; !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDryRunOfFaultInjectsNothing(t *testing.T) {
	e, api := startAPI(t)
	_, err := api.Create(t.Context(), fault(t, "gets", failGets), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	e.check(err)
	if _, err := e.get("a"); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run: %v", err)
	}
}

func TestServerSideApplyOfFault(t *testing.T) {
	e, api := startAPI(t)
	for _, code := range []int{503, 429} {
		u := fault(t, "gets", strings.ReplaceAll(failGets, "503", fmt.Sprint(code)))
		applied, err := api.Apply(t.Context(), "gets", u, metav1.ApplyOptions{FieldManager: "test"})
		e.check(err)
		if managers := applied.GetManagedFields(); len(managers) != 1 || managers[0].Manager != "test" {
			t.Errorf("managers %v", managers)
		}
	}
	if code, _ := e.send("GET", "/api/v1/namespaces/default/configmaps/a", ""); code != http.StatusTooManyRequests {
		t.Errorf("code %d", code)
	}
	other := fault(t, "gets", failGets)
	if _, err := api.Apply(t.Context(), "gets", other, metav1.ApplyOptions{FieldManager: "other"}); !apierrors.IsConflict(err) {
		t.Errorf("an apply of another manager: %v", err)
	}
}

// TestFaultsStayReachable injects failures that concern all requests.
func TestFaultsStayReachable(t *testing.T) {
	e, api := startAPI(t)
	for _, spec := range []string{"{effect: {status: {code: 503}}}", "{effect: {etcd: {unavailable: true}}}", "{effect: {reset: {}}}", "{effect: {etcd: {latency: {duration: 1h}}}}"} {
		_, err := api.Create(t.Context(), fault(t, "everything", spec), metav1.CreateOptions{})
		e.check(err)
		list, err := api.List(t.Context(), metav1.ListOptions{})
		e.check(err)
		if len(list.Items) != 1 {
			t.Errorf("%s: %v", spec, list.Items)
		}
		_, err = api.Create(t.Context(), fault(t, "stale", "{effect: {stale: {}}}"), metav1.CreateOptions{})
		e.check(err)
		e.check(api.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
	e.check(e.create("a"))
}

func TestResetRestoresConfiguredFaults(t *testing.T) {
	configured := faults.Fault{Name: "configured", Match: faults.On("get", "secrets"), Effect: faults.Effect{Compact: &faults.Compact{}}}
	e := startWith(t, miniapi.Config{Controllers: []string{"-*"}, TestAPIs: true, Faults: []faults.Fault{configured}})
	e.faults.Etcd(faults.Match{}, faults.Etcd{Unavailable: true})
	e.check(e.server.Reset(t.Context(), miniapi.ResetOptions{}))
	list := e.faults.List()
	if len(list) != 1 || list[0].ID != "configured" {
		t.Errorf("%d faults after the reset", len(list))
	}
	fork, err := e.server.Fork(t.Context())
	e.check(err)
	if list := fork.Faults().List(); len(list) != 0 {
		t.Errorf("the fork has %d faults", len(list))
	}
	e.check(servertest.Stop(fork))
}

func TestFaultsAreOffWithoutTestAPIs(t *testing.T) {
	e := start(t)
	if code, _ := e.send("GET", "/apis/miniapi.dev/v1alpha1/faults", ""); code != http.StatusNotFound {
		t.Errorf("code %d", code)
	}
}
