package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// isText reports whether values of a type are strings in JSON, as durations and times are.
func isText(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return t.Kind() == reflect.Struct &&
		(pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldOf returns the type of a field of a struct by its name in JSON.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if jsonName(f) == name {
			return f.Type, true
		}
	}
	return nil, false
}

// Prune removes the fields of a decoded object that a Go type does not have, and returns their
// paths in order.
func Prune(content map[string]any, t reflect.Type, path string) (unknown []string) {
	for name, value := range content {
		known, ok := fieldOf(t, name)
		if !ok {
			delete(content, name)
			unknown = append(unknown, path+name)
			continue
		}
		if known.Kind() == reflect.Pointer {
			known = known.Elem()
		}
		if nested, ok := value.(map[string]any); ok && known.Kind() == reflect.Struct && !isText(known) {
			unknown = append(unknown, Prune(nested, known, path+name+".")...)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// Check returns the errors of the values of a decoded object that a Go type cannot have.
func Check(value any, t reflect.Type, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && !isText(t) {
		return checkObject(value, t, path)
	}
	if list, ok := value.([]any); ok && t.Kind() == reflect.Slice {
		var errs field.ErrorList
		for i, item := range list {
			errs = append(errs, Check(item, t.Elem(), path.Index(i))...)
		}
		return errs
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be of type %s", typeName(t)))}
	}
	return nil
}

func checkObject(value any, t reflect.Type, path *field.Path) field.ErrorList {
	content, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, value, "must be of type object")}
	}
	var errs field.ErrorList
	for f := range t.Fields() {
		errs = append(errs, Check(content[jsonName(f)], f.Type, path.Child(jsonName(f)))...)
	}
	return errs
}

// typeName returns the name of a type for users of the API.
func typeName(t reflect.Type) string {
	switch {
	case t.Name() == "Duration":
		return "duration, such as 100ms"
	case t.Kind() == reflect.Slice:
		return "array"
	case t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	}
	return "integer"
}
