package crd

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// selector reads the value of a selectable field.
type selector struct {
	name string
	path *jsonpath.JSONPath
}

func fieldName(path string) string { return strings.TrimPrefix(path, ".") }

// compileSelectors omits invalid paths. Paths are validated when a definition is written.
func (v *version) compileSelectors() []selector {
	var selectors []selector
	for _, f := range v.spec.SelectableFields {
		path := jsonpath.New("selectable field").AllowMissingKeys(true)
		if path.Parse("{"+f.JSONPath+"}") == nil {
			selectors = append(selectors, selector{fieldName(f.JSONPath), path})
		}
	}
	return selectors
}

// selectable returns the values of the selectable fields, "" for a missing one.
func (v *version) selectable(obj runtime.Object) fields.Set {
	set := fields.Set{}
	for _, s := range v.selectors() {
		set[s.name] = ""
		found, err := s.path.FindResults(content(obj))
		if err != nil || len(found) != 1 || len(found[0]) != 1 {
			continue
		}
		if value := found[0][0].Interface(); value != nil {
			set[s.name] = fmt.Sprint(value)
		}
	}
	return set
}

func (v *version) fieldLabel(label, value string) (string, string, error) {
	known := label == "metadata.name" || label == "metadata.namespace" && v.namespaced
	for _, f := range v.spec.SelectableFields {
		known = known || fieldName(f.JSONPath) == label
	}
	if !known {
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
	return label, value, nil
}
