package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// diffSide is one side of a difference. The object is nil if it does not exist on that side.
type diffSide struct {
	name   string
	object *unstructured.Unstructured
}

// text returns the object as YAML without managedFields, "" if it does not exist.
func (s diffSide) text() (string, error) {
	if s.object == nil {
		return "", nil
	}
	s.object.SetManagedFields(nil)
	text, err := yaml.Marshal(s.object.Object)
	return string(text), err
}

// printDiff prints the unified diff of two objects, and reports whether they differ. It modifies
// the objects.
func printDiff(out io.Writer, from, to diffSide) (differ bool, err error) {
	maskSecrets(from.object, to.object)
	before, err := from.text()
	if err != nil {
		return false, err
	}
	after, err := to.text()
	if err != nil || before == after {
		return false, err
	}
	return true, difflib.WriteUnifiedDiff(out, difflib.UnifiedDiff{
		FromFile: from.name, A: slices.Collect(strings.Lines(before)),
		ToFile: to.name, B: slices.Collect(strings.Lines(after)), Context: 3,
	})
}

// masked replaces a value of a Secret, as in kubectl diff.
const masked = "***"

// maskSecrets replaces the values of Secrets, also in the last applied configuration. Values that
// differ stay different.
func maskSecrets(from, to *unstructured.Unstructured) {
	before, after := secretValues(from, "data"), secretValues(to, "data")
	keys := maps.Clone(before)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, after)
	for key := range keys { // each key once
		maskValue(before, after, key)
	}
	maskValue(secretValues(from, "metadata", "annotations"), secretValues(to, "metadata", "annotations"), corev1.LastAppliedConfigAnnotation)
}

// maskValue replaces a value that one or both sides have.
func maskValue(before, after map[string]any, key string) {
	from, removed := before[key]
	to, added := after[key]
	texts := [2]string{masked, masked}
	if removed && added && from != to {
		texts = [2]string{masked + " (before)", masked + " (after)"}
	}
	if removed {
		before[key] = texts[0]
	}
	if added {
		after[key] = texts[1]
	}
}

// secretValues returns a map in a Secret, nil for another object.
func secretValues(object *unstructured.Unstructured, path ...string) map[string]any {
	if object == nil || object.GetKind() != "Secret" || object.GetAPIVersion() != "v1" {
		return nil
	}
	found, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	values, _ := found.(map[string]any)
	return values
}
