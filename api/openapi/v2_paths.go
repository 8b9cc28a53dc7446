package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/gnostic-models/compiler"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	yaml "go.yaml.in/yaml/v3"
)

// v2Path is a path in a document of version 2, with the members that this package writes.
type v2Path struct {
	Parameters                                   []json.RawMessage
	Get, Put, Post, Delete, Options, Head, Patch *v2Operation
}

type v2Operation struct {
	Tags, Consumes, Produces, Schemes []string
	Description, OperationID          string
	Parameters                        []json.RawMessage
	Responses                         json.RawMessage
	Action                            json.RawMessage `json:"x-kubernetes-action"`
	Kind                              json.RawMessage `json:"x-kubernetes-group-version-kind"`
}

// v2PathReader converts paths to messages. gnostic converts their parameters, responses and
// extensions, once for each text: most of them are the same in many operations.
type v2PathReader struct {
	parameters memo[*openapi_v2.ParametersItem]
	responses  memo[*openapi_v2.Responses]
	extensions memo[*openapi_v2.Any]
}

func newV2PathReader() v2PathReader {
	return v2PathReader{
		parameters: memo[*openapi_v2.ParametersItem]{openapi_v2.NewParametersItem, map[string]*openapi_v2.ParametersItem{}},
		responses:  memo[*openapi_v2.Responses]{openapi_v2.NewResponses, map[string]*openapi_v2.Responses{}},
		extensions: memo[*openapi_v2.Any]{openapi_v2.NewAny, map[string]*openapi_v2.Any{}},
	}
}

// read converts the JSON object of all paths. The paths in it are sorted.
func (r v2PathReader) read(text []byte) (*openapi_v2.Paths, error) {
	var paths map[string]v2Path
	if err := json.Unmarshal(text, &paths); err != nil {
		return nil, fmt.Errorf("encode OpenAPI in protobuf: %w", err)
	}
	message := &openapi_v2.Paths{}
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		item, err := r.path(paths[name])
		if err != nil {
			return nil, err
		}
		message.Path = append(message.Path, &openapi_v2.NamedPathItem{Name: name, Value: item})
	}
	return message, nil
}

func (r v2PathReader) path(path v2Path) (message *openapi_v2.PathItem, err error) {
	message = &openapi_v2.PathItem{}
	if message.Parameters, err = r.parameters.ofAll(path.Parameters); err != nil {
		return nil, err
	}
	for _, method := range []struct {
		operation *v2Operation
		message   **openapi_v2.Operation
	}{
		{path.Get, &message.Get},
		{path.Put, &message.Put},
		{path.Post, &message.Post},
		{path.Delete, &message.Delete},
		{path.Options, &message.Options},
		{path.Head, &message.Head},
		{path.Patch, &message.Patch},
	} {
		if method.operation == nil {
			continue
		}
		if *method.message, err = r.operation(method.operation); err != nil {
			return nil, err
		}
	}
	return message, nil
}

func (r v2PathReader) operation(o *v2Operation) (message *openapi_v2.Operation, err error) {
	message = &openapi_v2.Operation{
		Tags: o.Tags, Consumes: o.Consumes, Produces: o.Produces, Schemes: o.Schemes,
		Description: o.Description, OperationId: o.OperationID,
	}
	if message.Parameters, err = r.parameters.ofAll(o.Parameters); err != nil {
		return nil, err
	}
	if message.Responses, err = r.responses.of(o.Responses); err != nil {
		return nil, err
	}
	for _, extension := range []struct {
		name string
		text json.RawMessage
	}{
		{"x-kubernetes-action", o.Action},
		{"x-kubernetes-group-version-kind", o.Kind},
	} {
		if extension.text == nil {
			continue
		}
		value, err := r.extensions.of(extension.text)
		if err != nil {
			return nil, err
		}
		message.VendorExtension = append(message.VendorExtension, &openapi_v2.NamedAny{Name: extension.name, Value: value})
	}
	return message, nil
}

// memo holds the messages of JSON texts. Messages are shared and must not be changed.
type memo[T any] struct {
	parse func(*yaml.Node, *compiler.Context) (T, error)
	known map[string]T
}

func (m memo[T]) of(text json.RawMessage) (T, error) {
	if message, ok := m.known[string(text)]; ok {
		return message, nil
	}
	message, err := parseMessage(text, m.parse)
	if err == nil {
		m.known[string(text)] = message
	}
	return message, err
}

func (m memo[T]) ofAll(texts []json.RawMessage) ([]T, error) {
	var list []T
	for _, text := range texts {
		message, err := m.of(text)
		if err != nil {
			return nil, err
		}
		list = append(list, message)
	}
	return list, nil
}
