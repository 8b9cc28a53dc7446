package registry_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func by(manager string, req registry.UpdateRequest) registry.UpdateRequest {
	req.Options.FieldManager = manager
	return req
}

// applyData wants the ConfigMap m to have some data.
func applyData(e *registrytest.Env, req registry.ApplyRequest, data map[string]any) (*corev1.ConfigMap, error) {
	store := e.Store("configmaps")
	req.Source = fmt.Append(nil, data)
	result, err := store.Update(e.Context(), registry.UpdateRequest{
		Namespace: registrytest.Namespace, Name: "m", Options: req.Options, ForceCreate: true, Applied: true,
		Propose: func(ctx context.Context, current runtime.Object) (runtime.Object, error) {
			req := req
			req.Object = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "m"}, "data": data,
			}}
			return store.Apply(ctx, current, req)
		},
	})
	if err != nil {
		return nil, err
	}
	return registrytest.Object(result.Entry).(*corev1.ConfigMap), nil
}

func mustApply(e *registrytest.Env, manager string, data map[string]any) *corev1.ConfigMap {
	e.Helper()
	m, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: manager}}, data)
	if err != nil {
		e.Fatal(err)
	}
	return m
}

// managed lists who manages what of an object, by name.
func managed(obj runtime.Object) []string {
	var list []string
	for _, m := range registrytest.Meta(obj).GetManagedFields() {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.Manager, m.Operation, m.FieldsV1.GetRawString(), m.Subresource)))
	}
	slices.Sort(list)
	return list
}

func wantManaged(t *testing.T, obj runtime.Object, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, managed(obj)); diff != "" {
		t.Errorf("field managers (-want +got):\n%s", diff)
	}
}

func TestWritesNoteTheirManager(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	req := post(registrytest.NewDeployment("d"))
	req.Options.FieldManager = "maker"
	created, err := e.Store("deployments.apps").Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	d := registrytest.Object(created.Entry).(*appsv1.Deployment).DeepCopy()
	update[runtime.Object](e, "deployments.apps", by("labeller", patch(d, func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} })))
	update[runtime.Object](e, "deployments.apps", by("kubelet", to("status", patch(d, func(d *appsv1.Deployment) {
		d.Status.Replicas, d.Labels = 5, map[string]string{"a": "is not kept"}
	}))))
	update[runtime.Object](e, "deployments.apps", by("scaler", scaleTo("d", 7)))
	update[runtime.Object](e, "deployments.apps", patch(d, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"server": "itself"} }))
	wantManaged(t, e.Get("deployments.apps", "x", "d"),
		`kubelet Update {"f:status":{"f:replicas":{}}} status`,
		`labeller Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
		`scaler Update {"f:spec":{"f:replicas":{}}} scale`)
}

func TestApplyOwnsAndDropsFields(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "one", map[string]any{"a": "1", "b": "2"})
	mustApply(e, "two", map[string]any{"c": "3"})
	m := mustApply(e, "one", map[string]any{"a": "1"})
	if diff := cmp.Diff(map[string]string{"a": "1", "c": "3"}, m.Data); diff != "" {
		t.Error(diff)
	}
	wantManaged(t, m, `one Apply {"f:data":{"f:a":{}}}`, `two Apply {"f:data":{"f:c":{}}}`)
}

func TestApplyConflictsUnlessForced(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "one", map[string]any{"a": "1"})
	two := registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: "two"}}
	_, err := applyData(e, two, map[string]any{"a": "2"})
	wantStatus(t, err, failure(409, metav1.StatusReasonConflict, `Apply failed with 1 conflict: conflict with "one": .data.a`,
		&metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "FieldManagerConflict", Message: `conflict with "one"`, Field: ".data.a"}}}))
	two.Force = true
	m, err := applyData(e, two, map[string]any{"a": "2"})
	if err != nil {
		t.Fatal(err)
	}
	wantManaged(t, m, `two Apply {"f:data":{"f:a":{}}}`)
}

// What is remembered of an apply that changed nothing holds for the state it
// was made on only.
func TestApplyAgainWritesNothing(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	first := mustApply(e, "one", map[string]any{"a": "1"})
	for range 3 {
		if again := mustApply(e, "one", map[string]any{"a": "1"}); again.ResourceVersion != first.ResourceVersion {
			t.Fatalf("version %s has become %s", first.ResourceVersion, again.ResourceVersion)
		}
	}
	update[*corev1.ConfigMap](e, "configmaps", by("other", patch(first, func(m *corev1.ConfigMap) { m.Data["a"] = "stolen" })))
	_, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: "one"}}, map[string]any{"a": "1"})
	wantMessage(t, err, 409, `Apply failed with 1 conflict: conflict with "other" using v1: .data.a`)
}

// A client that read an object sends its managers back, perhaps with other times.
func TestTimesAloneAreNoChange(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	m := mustApply(e, "one", map[string]any{"a": "1"})
	touched := update[*corev1.ConfigMap](e, "configmaps", by("two", patch(m, func(m *corev1.ConfigMap) {
		m.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(1, 0)}
	})))
	if touched.ResourceVersion != m.ResourceVersion {
		t.Error("the object was written")
	}
}

func TestClientsMayForgetTheManagers(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	for rule, c := range map[string]struct {
		sent []metav1.ManagedFieldsEntry
		want []string
	}{
		"none sent":       {nil, []string{`one Apply {"f:data":{"f:a":{}}}`}},
		"none that exist": {[]metav1.ManagedFieldsEntry{{Manager: "x"}}, []string{`one Apply {"f:data":{"f:a":{}}}`}},
		"an empty list":   {[]metav1.ManagedFieldsEntry{}, nil},
		"one empty entry": {[]metav1.ManagedFieldsEntry{{}}, nil},
	} {
		t.Run(rule, func(t *testing.T) {
			e := e.With(t)
			m := mustApply(e, "one", map[string]any{"a": "1"})
			got := update[*corev1.ConfigMap](e, "configmaps", by("two", patch(m, func(m *corev1.ConfigMap) { m.ManagedFields = c.sent })))
			wantManaged(t, got, c.want...)
			if _, err := e.Store("configmaps").Delete(t.Context(), remove("m", &metav1.DeleteOptions{})); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Appliers that race each see the fields of those before.
func TestConcurrentAppliesKeepEachOthersFields(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "first", map[string]any{"first": "1"})
	together(func(writer int) {
		name := fmt.Sprint("w", writer)
		if _, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: name}}, map[string]any{name: "1"}); err != nil {
			t.Error(err)
		}
	})
	m := e.Get("configmaps", registrytest.Namespace, "m").(*corev1.ConfigMap)
	if len(m.Data) != len(m.ManagedFields) || len(m.Data) < 3 {
		t.Errorf("%d managers of %d fields", len(m.ManagedFields), len(m.Data))
	}
}

// What one manager leaves out goes, unless another one owns it too.
func TestApplyTakesOutWhatIsLeftOut(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	for _, c := range []struct {
		manager string
		keys    string
		want    string
	}{
		{"one", "a b c", "a b c"},
		{"two", "b d", "a b c d"},
		{"one", "a b c e", "a b c d e"},
		{"one", "a", "a b d"},
		{"two", "d", "a d"},
		{"one", "", "d"},
	} {
		data := map[string]any{}
		for _, key := range strings.Fields(c.keys) {
			data[key] = "1"
		}
		m := mustApply(e, c.manager, data)
		if got := strings.Join(slices.Sorted(maps.Keys(m.Data)), " "); got != c.want {
			t.Errorf("after %s applied %q: %q, want %q", c.manager, c.keys, got, c.want)
		}
	}
}

// What cannot be merged is the client's mistake, whatever is wrong with it.
func TestApplyOfNonsense(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "one", map[string]any{"a": "1"})
	for rule, data := range map[string]map[string]any{
		"a value of another type": {"a": 1}, "a map for a value": {"a": map[string]any{}}, "nothing for a value": {"a": []any{nil}},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: "one"}, Force: true}, data)
			if !apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .data.a: expected string, got ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
