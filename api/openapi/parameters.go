package openapi

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parameter is a parameter of an operation, in the path or in the query.
type parameter struct {
	name, in, kind, description string
}

func pathParameter(name, description string) parameter {
	return parameter{name: name, in: "path", kind: "string", description: description}
}

var pretty = parameter{name: "pretty", in: "query", kind: "string", description: "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget)."}

// Query parameters of the verbs.
var (
	getParameters              = sync.OnceValue(func() []parameter { return fromOptions(metav1.GetOptions{}) })
	listParameters             = sync.OnceValue(func() []parameter { return fromOptions(metav1.ListOptions{}) })
	createParameters           = sync.OnceValue(func() []parameter { return fromOptions(metav1.CreateOptions{}) })
	updateParameters           = sync.OnceValue(func() []parameter { return fromOptions(metav1.UpdateOptions{}) })
	patchParameters            = sync.OnceValue(func() []parameter { return fromOptions(metav1.PatchOptions{}) })
	deleteParameters           = sync.OnceValue(func() []parameter { return fromOptions(metav1.DeleteOptions{}) })
	deleteCollectionParameters = sync.OnceValue(func() []parameter {
		all := slices.Concat(deleteParameters(), listParameters())
		return slices.DeleteFunc(all, func(p parameter) bool { return p.name == "watch" || p.name == "allowWatchBookmarks" })
	})
)

// fromOptions returns the query parameters for the fields of an options type, with their JSON names
// and documentation.
func fromOptions(options interface{ SwaggerDoc() map[string]string }) []parameter {
	docs := options.SwaggerDoc()
	var params []parameter
	for field := range reflect.TypeOf(options).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		kind := parameterKind(field.Type)
		if name == "" || kind == "" {
			continue
		}
		params = append(params, parameter{name: name, in: "query", kind: kind, description: docs[name]})
	}
	return params
}

// parameterKind returns the OpenAPI type of a query parameter, "" if the Go type is not supported.
func parameterKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return parameterKind(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	}
	return ""
}
