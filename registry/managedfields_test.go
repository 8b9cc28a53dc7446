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
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

// withManager sets the field manager of a request.
func withManager(manager string, req registry.UpdateRequest) registry.UpdateRequest {
	req.Options.FieldManager = manager
	return req
}

// applyData applies data to the ConfigMap m.
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

// managersOf describes the managed fields of an object, sorted by manager.
func managersOf(obj runtime.Object) []string {
	var list []string
	for _, m := range registrytest.Meta(obj).GetManagedFields() {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.Manager, m.Operation, m.FieldsV1.GetRawString(), m.Subresource)))
	}
	slices.Sort(list)
	return list
}

func wantManaged(t *testing.T, obj runtime.Object, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, managersOf(obj)); diff != "" {
		t.Errorf("field managers (-want +got):\n%s", diff)
	}
}

func TestWritesRecordTheirManager(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	req := post(registrytest.NewDeployment("d"))
	req.Options.FieldManager = "maker"
	created, err := e.Store("deployments.apps").Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	d := registrytest.Object(created.Entry).(*appsv1.Deployment).DeepCopy()
	update[runtime.Object](e, "deployments.apps", withManager("labeller", patch(d, func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} })))
	update[runtime.Object](e, "deployments.apps", withManager("kubelet", withSubresource("status", patch(d, func(d *appsv1.Deployment) {
		d.Status.Replicas, d.Labels = 5, map[string]string{"a": "not kept"}
	}))))
	update[runtime.Object](e, "deployments.apps", withManager("scaler", scaleTo("d", 7)))
	update[runtime.Object](e, "deployments.apps", patch(d, func(d *appsv1.Deployment) { d.Annotations = map[string]string{"written-by": "server"} }))
	wantManaged(t, e.Get("deployments.apps", "x", "d"),
		`kubelet Update {"f:status":{"f:replicas":{}}} status`,
		`labeller Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`,
		`scaler Update {"f:spec":{"f:replicas":{}}} scale`)
}

func TestDefaultsOfTheHubAreOwned(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types(), kinds.Resources(feature.Default())...)
	req := post(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}})
	a := req.Object.(*autoscalingv2.HorizontalPodAutoscaler)
	a.Spec.MaxReplicas, a.Spec.ScaleTargetRef = 3, autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}
	e.Default("horizontalpodautoscalers.autoscaling", a)
	req.Options.FieldManager, req.Options.Version = "maker", "v1"
	created, err := e.Store("horizontalpodautoscalers.autoscaling").Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	wantManaged(t, registrytest.Object(created.Entry), `maker Update {"f:spec":{"f:maxReplicas":{},"f:minReplicas":{},`+
		`"f:scaleTargetRef":{},"f:targetCPUUtilizationPercentage":{}}}`)
}

func TestApplyOwnsAndRemovesFields(t *testing.T) {
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
	wantStatus(t, err, failureStatus(409, metav1.StatusReasonConflict, `Apply failed with 1 conflict: conflict with "one": .data.a`,
		&metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "FieldManagerConflict", Message: `conflict with "one"`, Field: ".data.a"}}}))
	two.Force = true
	m, err := applyData(e, two, map[string]any{"a": "2"})
	if err != nil {
		t.Fatal(err)
	}
	wantManaged(t, m, `two Apply {"f:data":{"f:a":{}}}`)
}

// The memo of an apply without changes is valid for one state only: after a write by another
// manager the same apply conflicts.
func TestRepeatedApplyWritesNothing(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	first := mustApply(e, "one", map[string]any{"a": "1"})
	for range 3 {
		if next := mustApply(e, "one", map[string]any{"a": "1"}); next.ResourceVersion != first.ResourceVersion {
			t.Fatalf("resourceVersion changed from %s to %s", first.ResourceVersion, next.ResourceVersion)
		}
	}
	update[*corev1.ConfigMap](e, "configmaps", withManager("other", patch(first, func(m *corev1.ConfigMap) { m.Data["a"] = "changed" })))
	_, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: "one"}}, map[string]any{"a": "1"})
	wantMessage(t, err, 409, `Apply failed with 1 conflict: conflict with "other" using v1: .data.a`)
}

// A client may send back the managed fields that it has read, with other times.
func TestTimesOfManagersAreIgnored(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	m := mustApply(e, "one", map[string]any{"a": "1"})
	touched := update[*corev1.ConfigMap](e, "configmaps", withManager("two", patch(m, func(m *corev1.ConfigMap) {
		m.ManagedFields[0].Time = &metav1.Time{Time: time.Unix(1, 0)}
	})))
	if touched.ResourceVersion != m.ResourceVersion {
		t.Error("the object was written")
	}
}

// The owner of the replicas is written by the main resource. A Scale has no times of such owners.
func TestScaleWithoutChangesWritesNothing(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	req := post(registrytest.NewDeployment("d"))
	req.Options.FieldManager = "owner"
	created, err := e.Store("deployments.apps").Create(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	d := registrytest.Object(created.Entry).(*appsv1.Deployment)
	owned := update[*appsv1.Deployment](e, "deployments.apps", withManager("owner", patch(d, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })))
	wantManaged(t, owned, `owner Update {"f:spec":{"f:replicas":{}}}`)
	update[runtime.Object](e, "deployments.apps", withManager("scaler", scaleTo("d", 7)))
	if got := registrytest.Meta(e.Get("deployments.apps", "x", "d")).GetResourceVersion(); got != owned.ResourceVersion {
		t.Errorf("resourceVersion changed from %s to %s", owned.ResourceVersion, got)
	}
}

func TestUpdateMayResetManagedFields(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	for rule, c := range map[string]struct {
		sent []metav1.ManagedFieldsEntry
		want []string
	}{
		"no managed fields":      {nil, []string{`one Apply {"f:data":{"f:a":{}}}`}},
		"invalid managed fields": {[]metav1.ManagedFieldsEntry{{Manager: "x"}}, []string{`one Apply {"f:data":{"f:a":{}}}`}},
		"an empty list":          {[]metav1.ManagedFieldsEntry{}, nil},
		"one empty entry":        {[]metav1.ManagedFieldsEntry{{}}, nil},
	} {
		t.Run(rule, func(t *testing.T) {
			e := e.With(t)
			m := mustApply(e, "one", map[string]any{"a": "1"})
			got := update[*corev1.ConfigMap](e, "configmaps", withManager("two", patch(m, func(m *corev1.ConfigMap) { m.ManagedFields = c.sent })))
			wantManaged(t, got, c.want...)
			if _, err := e.Store("configmaps").Delete(t.Context(), deleteRequest("m", &metav1.DeleteOptions{})); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Each of the concurrent applies keeps the fields of the others.
func TestConcurrentApplies(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "first", map[string]any{"first": "1"})
	runWriters(func(writer int) {
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

// An apply removes a field that its manager omits, unless another manager owns it too.
func TestApplyRemovesOmittedFields(t *testing.T) {
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

// An apply that cannot be merged is a bad request.
func TestApplyOfInvalidValues(t *testing.T) {
	e := registrytest.NewManaged(t, kinds.Types())
	mustApply(e, "one", map[string]any{"a": "1"})
	for rule, data := range map[string]map[string]any{
		"a number instead of a string": {"a": 1}, "a map instead of a string": {"a": map[string]any{}}, "a list instead of a string": {"a": []any{nil}},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := applyData(e, registry.ApplyRequest{Options: registry.WriteOptions{FieldManager: "one"}, Force: true}, data)
			if !apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .data.a: expected string, got ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
