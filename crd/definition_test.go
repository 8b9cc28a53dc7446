package crd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestCreatedDefinitionIsServed(t *testing.T) {
	e := start(t)
	for i := range 20 {
		e.create(define(preserveUnknownFields))
		e.widget("w", "spec: {a: 1}")
		d, err := e.definitions.Get(e.Context(), "widgets."+group, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := condition(d, apiextensionsv1.Established); got != "True InitialNamesAccepted: the initial names have been accepted" {
			t.Errorf("round %d: Established is %s", i, got)
		}
		if err := e.definitions.Delete(e.Context(), d.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		e.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
	}
}

func TestUpdatedSchemaIsInEffect(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer}}}`))
	for _, step := range []struct{ properties, body, want string }{
		{`spec: {type: object, properties: {b: {type: integer}}}`, "spec: {a: 1, b: 2}", `{"b":2}`},
		{`spec: {type: object, properties: {c: {type: string, default: one}}}`, "spec: {b: 2}", `{"c":"one"}`},
		{`spec: {type: object, properties: {c: {type: string, default: two}}}`, "spec: {}", `{"c":"two"}`},
	} {
		e.change("widgets", func(d *definition) { d.Spec.Versions[0].Schema = versionOf("v1", step.properties).Schema })
		u := e.widget("", step.body+"\nmetadata: {generateName: w-}")
		if got := spec(u); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
}

func TestNameConflicts(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, func(d *definition) { d.Spec.Names.ShortNames = []string{"wd"} }))
	e.create(define(preserveUnknownFields, renamedTo("gadgets", "Widget"), func(d *definition) { d.Spec.Names.Singular = "gadget" }))
	e.create(define(preserveUnknownFields, renamedTo("gizmos", "Gizmo"), func(d *definition) { d.Spec.Names.ShortNames = []string{"wd", "widget"} }))

	e.awaitDefinition("gadgets", func(d *definition) bool {
		return condition(d, apiextensionsv1.NamesAccepted) == `False ListKindConflict: "WidgetList" is already in use` &&
			condition(d, apiextensionsv1.Established) == "False NotAccepted: not all names are accepted"
	})
	e.awaitDefinition("gizmos", func(d *definition) bool {
		return condition(d, apiextensionsv1.NamesAccepted) == `False ShortNamesConflict: ["wd" is already in use, "widget" is already in use]`
	})

	if err := e.definitions.Delete(e.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gadgets", "gizmos"} {
		e.awaitDefinition(name, func(d *definition) bool {
			return condition(d, apiextensionsv1.NamesAccepted) == "True NoConflicts: no conflicts found" &&
				condition(d, apiextensionsv1.Established) == "True InitialNamesAccepted: the initial names have been accepted"
		})
	}
}

func TestServedResourceKeepsItsNamesAfterAConflict(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, renamedTo("gadgets", "Gadget")))
	e.create(define(preserveUnknownFields))
	e.change("widgets", func(d *definition) { d.Spec.Names.ShortNames = []string{"gadget"} })
	e.awaitDefinition("widgets", func(d *definition) bool {
		return condition(d, apiextensionsv1.NamesAccepted) == `False ShortNamesConflict: "gadget" is already in use` &&
			condition(d, apiextensionsv1.Established) == "True InitialNamesAccepted: the initial names have been accepted"
	})
	e.widget("w", "")
}

func TestConditionsThatAClientRemovesStayRemoved(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.widget("w", "")
	patch := []byte(`{"status":{"conditions":[{"type":"Ours","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}]}}`)
	if _, err := e.definitions.Patch(e.Context(), "widgets."+group, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	// The answer to the next write of a definition shows that the removal has been processed.
	e.create(define(preserveUnknownFields, renamedTo("gadgets", "Gadget")))
	e.awaitDefinition("widgets", func(d *definition) bool {
		return len(d.Status.Conditions) == 1 && condition(d, "Ours") == "True : "
	})
	if _, err := e.widgets("v1").Get(e.Context(), "w", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a definition without accepted names is served: %v", err)
	}
}

func TestDeletionWaitsForFinalizersOfObjects(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.widget("free", "")
	held := e.widget("held", "metadata: {finalizers: [example.com/hold]}")
	w, err := e.widgets("v1").Watch(e.Context(), metav1.ListOptions{ResourceVersion: held.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := e.definitions.Delete(e.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool {
		return condition(d, apiextensionsv1.Terminating) == "True InstanceDeletionInProgress: CustomResource deletion is in progress"
	})
	_, err = e.widgets("v1").Create(e.Context(), object("v1", "new", ""), metav1.CreateOptions{})
	servertest.WantStatus(t, err, 403, metav1.StatusReasonForbidden,
		`widgets.example.com "new" is forbidden: create not allowed while custom resource definition is terminating`)
	if left := e.get("v1", "held"); left.GetDeletionTimestamp() == nil {
		t.Error("the object with a finalizer is not being deleted")
	}
	if _, err := e.widgets("v1").Get(e.Context(), "free", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the object without finalizers exists: %v", err)
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := e.widgets("v1").Patch(e.Context(), "held", "application/merge-patch+json", release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
	for range w.ResultChan() { // until the watch ends
	}
}

// A definition whose names are not accepted has no objects and is deleted immediately.
func TestDeletionOfADefinitionThatIsNotEstablished(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.widget("w", "")
	e.create(define(preserveUnknownFields, renamedTo("gadgets", "Widget")))
	if err := e.definitions.Delete(e.Context(), "gadgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.awaitDefinition("gadgets", func(d *definition) bool { return d == nil })
	e.get("v1", "w")
}

func TestWatchesEndWithASchemaChange(t *testing.T) {
	e := start(t)
	e.create(define(`spec: {type: object, properties: {a: {type: integer}}}`))
	w, err := e.widgets("v1").Watch(e.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	e.widget("w", "")
	if got := e.next(w).Type; got != watch.Added {
		t.Errorf("got %s", got)
	}
	e.change("widgets", func(d *definition) { d.Labels = map[string]string{"a": "b"} })
	e.widget("x", "")
	if got := e.next(w).Type; got != watch.Added {
		t.Errorf("a change of the labels ended the watch: %s", got)
	}
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Schema = versionOf("v1", preserveUnknownFields).Schema })
	for event := range w.ResultChan() {
		t.Errorf("unexpected event %v", event)
	}
}

// A server serves the definitions that another one acknowledged, and the cleanup of a deleted
// definition does not delete the objects of a new definition of the same name.
func TestTwoServersOnOneEtcd(t *testing.T) {
	first := startWith(t, miniapi.Config{EtcdListenClientURLs: []string{"http://127.0.0.1:0"}})
	second := startWith(t, miniapi.Config{EtcdServers: first.server.EtcdClientURLs()})
	e := [2]*env{first, second}
	for i := range 20 {
		one, other := e[i%2], e[(i+1)%2]
		one.create(define(preserveUnknownFields, renamedTo(fmt.Sprint("widgets", i), fmt.Sprint("Widget", i))))
		list := func(e *env) error {
			_, err := e.client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: fmt.Sprint("widgets", i)}).List(t.Context(), metav1.ListOptions{})
			return err
		}
		if err := list(other); err != nil {
			t.Errorf("round %d: %v", i, err)
		}
		one.create(define(preserveUnknownFields))
		one.widget("w", "")
		one.get("v1", "w")
		other.get("v1", "w")
		if err := other.definitions.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		one.awaitDefinition("widgets", func(d *definition) bool { return d == nil })
	}
}

func TestStoredVersions(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields))
	e.change("widgets", func(d *definition) {
		v2 := versionOf("v2", preserveUnknownFields)
		v2.Storage, d.Spec.Versions[0].Storage = true, false
		d.Spec.Versions = append(d.Spec.Versions, v2)
	})
	d, err := e.definitions.Get(e.Context(), "widgets."+group, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Status.StoredVersions, []string{"v1", "v2"}) {
		t.Errorf("stored versions are %v", d.Status.StoredVersions)
	}
	d.Spec.Versions = d.Spec.Versions[1:]
	_, err = e.definitions.Update(e.Context(), d, metav1.UpdateOptions{})
	servertest.WantStatus(t, err, 422, metav1.StatusReasonInvalid, `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: `+
		`status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration `+
		`ensures no data remains persisted in v1 and removes v1 from status.storedVersions`)
}
