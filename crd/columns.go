package crd

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// ageColumn is the column of a version that defines none.
func ageColumn() apiextensionsv1.CustomResourceColumnDefinition {
	return apiextensionsv1.CustomResourceColumnDefinition{
		Name: "Age", Type: "date", Description: kind.MetaDoc("creationTimestamp"), JSONPath: ".metadata.creationTimestamp",
	}
}

// columns returns the name and the columns of a version.
func columns(defined []apiextensionsv1.CustomResourceColumnDefinition) registry.Columns {
	if len(defined) == 0 {
		defined = []apiextensionsv1.CustomResourceColumnDefinition{ageColumn()}
	}
	paths := sync.OnceValue(func() []*jsonpath.JSONPath { return compilePaths(defined) })
	return registry.Columns{
		Definitions: headers(defined),
		Row: func(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
			u := obj.(*unstructured.Unstructured)
			cells := []any{u.GetName()}
			for i, path := range paths() {
				cells = append(cells, cell(path, defined[i].Type, u.Object))
			}
			return cells, nil
		},
	}
}

func headers(defined []apiextensionsv1.CustomResourceColumnDefinition) []metav1.TableColumnDefinition {
	list := []metav1.TableColumnDefinition{kind.NameDefinition()}
	for _, c := range defined {
		description := c.Description
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		list = append(list, metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: description, Priority: c.Priority,
		})
	}
	return list
}

// compilePaths returns nil for an invalid path: its cells are empty. Paths are validated when a
// definition is written.
func compilePaths(defined []apiextensionsv1.CustomResourceColumnDefinition) []*jsonpath.JSONPath {
	paths := make([]*jsonpath.JSONPath, len(defined))
	for i, c := range defined {
		path := jsonpath.New(c.Name).AllowMissingKeys(true)
		if path.Parse("{"+c.JSONPath+"}") == nil {
			paths[i] = path
		}
	}
	return paths
}

// cell returns nil for a missing value and for a value of another type.
func cell(path *jsonpath.JSONPath, typ string, object map[string]any) any {
	if path == nil {
		return nil
	}
	found, err := path.FindResults(object)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if typ != "string" {
		return typedCell(typ, value)
	}
	var text bytes.Buffer
	if err := path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return nil
	}
	return text.String()
}

func typedCell(typ string, value any) any {
	switch typ {
	case "integer":
		if number, ok := asFloat(value); ok {
			if exact, ok := value.(int64); ok {
				return exact
			}
			return int64(number)
		}
	case "number":
		if number, ok := asFloat(value); ok {
			return number
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if text, ok := value.(string); ok {
			return date(text)
		}
	}
	return nil
}

func asFloat(value any) (float64, bool) {
	switch number := value.(type) {
	case int64:
		return float64(number), true
	case float64:
		return number, true
	case json.Number:
		f, err := number.Float64()
		return f, err == nil
	}
	return 0, false
}

// date returns the age of a timestamp.
func date(text string) any {
	if text == "" || text == "null" {
		return kind.Age(metav1.Time{})
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "<invalid>"
	}
	return kind.Age(metav1.NewTime(at))
}
