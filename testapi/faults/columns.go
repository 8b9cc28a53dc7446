package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

func columns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "The name of the fault."},
		{Name: "Match", Type: "string", Description: "The requests that the fault selects."},
		{Name: "Effect", Type: "string", Description: "The failure."},
		{Name: "Matched", Type: "integer", Description: "The number of requests that match, apart from the number or share to select."},
		{Name: "Injected", Type: "integer", Description: "The number of requests into which the failure was injected."},
		{Name: "Age", Type: "string", Description: "The time since the creation of the fault."},
		{Name: "Last Request", Type: "string", Priority: 1, Description: "The last request into which the failure was injected."},
	}
}

func row(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
	u := obj.(*unstructured.Unstructured)
	status := Counts{}
	if c, err := contentOf(u); err == nil {
		status = c.Status
	}
	match, _, _ := unstructured.NestedMap(u.Object, "spec", "match")
	effect, _, _ := unstructured.NestedMap(u.Object, "spec", "effect")
	age := registry.Elapsed{Since: u.GetCreationTimestamp()}
	return []any{u.GetName(), describeMatch(match), describeFields(effect), status.Matched, status.Injected, age, status.LastRequest}, nil
}

// describeMatch returns a match in one line: verbs and resources first, then the other fields.
func describeMatch(match map[string]any) string {
	var parts []string
	for _, name := range []string{"verbs", "resources"} {
		if value, ok := match[name]; ok {
			parts = append(parts, describeValue(value))
			delete(match, name)
		}
	}
	if len(match) > 0 {
		parts = append(parts, describeFields(match))
	}
	if len(parts) == 0 {
		return "<all>"
	}
	return strings.Join(parts, " ")
}

// describeFields returns fields in one line, in the order of their names.
func describeFields(fields map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[name].(type) {
		case bool:
			parts = append(parts, name)
		case map[string]any:
			parts = append(parts, strings.TrimSpace(name+" "+describeFields(value)))
		default:
			parts = append(parts, name+"="+describeValue(value))
		}
	}
	return strings.Join(parts, " ")
}

func describeValue(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var items []string
	for _, item := range list {
		items = append(items, fmt.Sprint(item))
	}
	return strings.Join(items, ",")
}
