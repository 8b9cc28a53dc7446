package crd_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/internal/servertest"
)

// twoVersions adds version v2 to widgets, with other fields.
func twoVersions(properties string) func(*definition) {
	return func(d *definition) { d.Spec.Versions = append(d.Spec.Versions, versionOf("v2", properties)) }
}

func TestVersionsShareObjectsAndResourceVersions(t *testing.T) {
	e := start(t)
	e.create(define(
		`spec: {type: object, properties: {a: {type: integer}, old: {type: integer}}}`,
		twoVersions(`spec: {type: object, properties: {a: {type: integer}, new: {type: integer, default: 7}}}`),
	))
	var watches []watcher
	for _, version := range []string{"v1", "v2"} {
		w, err := e.widgets(version).Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		watches = append(watches, watcher{e, w})
	}
	e.widget("w", "spec: {a: 1, old: 2}")
	if _, err := e.widgets("v2").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"a":2,"new":3}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	v1, v2 := e.list("v1"), e.list("v2")
	if v1.GetResourceVersion() != v2.GetResourceVersion() || v1.Items[0].GetResourceVersion() != v2.Items[0].GetResourceVersion() {
		t.Errorf("lists are at %s and %s", v1.GetResourceVersion(), v2.GetResourceVersion())
	}
	if v1.GetAPIVersion() != "example.com/v1" || v2.Items[0].GetAPIVersion() != "example.com/v2" {
		t.Errorf("lists are of %s and of %s", v1.GetAPIVersion(), v2.Items[0].GetAPIVersion())
	}
	// v1 is stored: fields that only v2 has are pruned, and the defaults of v1 are set too.
	if got := spec(&v1.Items[0]) + spec(&v2.Items[0]); got != `{"a":2}{"a":2}` {
		t.Errorf("got %s", got)
	}
	for range 2 {
		one, other := watches[0].object(), watches[1].object()
		if one.GetResourceVersion() != other.GetResourceVersion() || one.GetAPIVersion() == other.GetAPIVersion() {
			t.Errorf("watched %s and %s", toJSON(one), toJSON(other))
		}
	}
}

// An object stored in an old version is readable, and an update without a change stores it in the
// new version.
func TestStorageVersionChanges(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, twoVersions(preserveUnknownFields)))
	created := e.widget("w", "spec: {a: 1}")
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true })
	read := e.get("v1", "w")
	if toJSON(read) != toJSON(created) || !strings.HasPrefix(e.stored("w"), "example.com/v1 ") {
		t.Errorf("stored in %s, read as %s", e.stored("w"), toJSON(read))
	}
	updated, err := e.widgets("v1").Update(t.Context(), read, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if updated.GetResourceVersion() == read.GetResourceVersion() || updated.GetGeneration() != 1 || !strings.HasPrefix(e.stored("w"), "example.com/v2 ") {
		t.Errorf("an update left it in %s at %s", e.stored("w"), updated.GetResourceVersion())
	}
	again, err := e.widgets("v1").Update(t.Context(), updated, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.GetResourceVersion() != updated.GetResourceVersion() {
		t.Error("an update that changes nothing wrote")
	}
}

func TestUnservedVersion(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, twoVersions(preserveUnknownFields)))
	e.widget("w", "")
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Served = false })
	_, err := e.widgets("v1").Get(t.Context(), "w", metav1.GetOptions{})
	servertest.WantStatus(t, err, 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	e.get("v2", "w")
}

// A field manager is identified by its version too.
func TestApplyInTwoVersions(t *testing.T) {
	e := start(t)
	const properties = `spec: {type: object, properties: {a: {type: integer}, b: {type: integer}}}`
	e.create(define(properties, twoVersions(properties)))
	apply := func(version, manager, body string) (*unstructured.Unstructured, error) {
		return e.widgets(version).Apply(t.Context(), "w", object(version, "w", body), metav1.ApplyOptions{FieldManager: manager})
	}
	for _, step := range []struct{ version, manager, body, want string }{
		{"v1", "one", "spec: {a: 1}", `{"a":1}`},
		{"v2", "two", "spec: {b: 2}", `{"a":1,"b":2}`},
		{"v2", "one", "spec: {a: 3}", `{"a":3,"b":2}`},
		{"v1", "two", "spec: {}", `{"a":3}`},
	} {
		applied, err := apply(step.version, step.manager, step.body)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec(applied); got != step.want {
			t.Errorf("%s in %s: got %s, want %s", step.manager, step.version, got, step.want)
		}
	}
	_, err := apply("v1", "two", "spec: {a: 4}")
	servertest.WantStatus(t, err, 409, metav1.StatusReasonConflict, `Apply failed with 1 conflict: conflict with "one": .spec.a`)
}

func TestDeprecatedVersionsWarn(t *testing.T) {
	e := start(t)
	e.create(define(preserveUnknownFields, twoVersions(preserveUnknownFields), func(d *definition) { d.Spec.Versions[0].Deprecated = true }))
	e.list("v1")
	e.list("v2")
	if got := strings.Join(e.warnings.Take(), "; "); got != "example.com/v1 Widget is deprecated; use example.com/v2 Widget" {
		t.Errorf("warnings: %s", got)
	}
}
