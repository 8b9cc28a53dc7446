package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

const v3Refs = "#/components/schemas/"

func (p *part) buildV3() (*Document, error) {
	routes := p.routes()
	schemas, err := p.v3Schemas(routes)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI of %s: %w", p.name, err)
	}
	var components, document members
	components.set("schemas", schemas.object()...)
	info := customInfo
	if !p.custom() {
		components.set("securitySchemes", encode(object{"BearerToken": bearerToken}))
		info = serverInfo(p.release)
	}
	paths := encodePaths(routes, v3Path)
	document.set("openapi", []byte(`"3.0.0"`))
	document.set("info", encode(info))
	document.set("paths", paths.object()...)
	document.set("components", components.object()...)
	text := document.object()
	protobuf := sync.OnceValues(func() ([]byte, error) { return v3Protobuf(text) })
	return &Document{Hash: text.hash(), text: text, protobuf: protobuf}, nil
}

func (p *part) v3Schemas(routes []route) (members, error) {
	all, err := definitions()
	if err != nil {
		return members{}, err
	}
	schemas, err := p.customModels(false)
	if err != nil {
		return members{}, err
	}
	for _, name := range closure(all, p.models(routes)) {
		schemas[name] = withKinds(all[name].V3, p.kindsOf(name))
	}
	var sorted members
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		sorted.set(name, schemas[name]...)
	}
	return sorted, nil
}

// bearerToken is the security scheme of all operations.
var bearerToken = object{"type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header"}

// kindsOf returns the kinds of a built-in definition. Documents of built-in kinds omit the kinds of
// a type in other group versions, if the type belongs to all of them.
func (p *part) kindsOf(name string) []schema.GroupVersionKind {
	kinds := p.library.kinds()[name]
	if p.custom() {
		return clientKinds(name, kinds)
	}
	if len(kinds) < 2 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(gvk schema.GroupVersionKind) bool {
		return gvk.Group != "" && gvk.GroupVersion() != p.gv
	})
}

// encodePaths encodes routes; describe returns their description in one OpenAPI version.
func encodePaths(routes []route, describe func(r route) object) members {
	var paths members
	for _, r := range routes {
		paths.set(r.path, encode(describe(r)))
	}
	return paths
}

// encode returns the JSON of a description, which contains only types that JSON supports.
func encode(description any) []byte {
	text, err := json.Marshal(description)
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	return text
}

func serverInfo(release string) object { return object{"title": "Kubernetes", "version": release} }

// customInfo is the info member of documents of custom resources.
var customInfo = object{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}

func v3Path(r route) object {
	common, own := r.splitParameters()
	path := object{}
	if len(common) > 0 {
		path["parameters"] = v3Parameters(common)
	}
	for i, o := range r.operations {
		path[o.method] = v3Operation(o, own[i])
	}
	return path
}

func v3Operation(o operation, params []parameter) object {
	operation := describe(o)
	if len(params) > 0 {
		operation["parameters"] = v3Parameters(params)
	}
	if o.body.model != "" {
		request := object{"content": v3Content(o.body.media, o.body.model)}
		if o.body.required {
			request["required"] = true
		}
		operation["requestBody"] = request
	}
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range o.response.codes {
		responses[strconv.Itoa(code)] = object{
			"description": codeTexts[code],
			"content":     v3Content(o.response.media, o.response.model),
		}
	}
	operation["responses"] = responses
	return operation
}

// describe returns the members of an operation that are the same in both versions.
func describe(o operation) object {
	operation := object{"operationId": o.id, "tags": []string{o.tag}, "description": o.description}
	if o.action != "" {
		operation["x-kubernetes-action"] = o.action
		operation["x-kubernetes-group-version-kind"] = groupVersionKind(o.kind)
	}
	return operation
}

func v3Content(media []string, model string) object {
	content := object{}
	for _, m := range media {
		content[m] = object{"schema": schemaOf(v3Refs, model)}
	}
	return content
}

func schemaOf(refs, model string) object {
	if model == "" {
		return object{"type": "string"}
	}
	return object{"$ref": refs + model}
}

func v3Parameters(params []parameter) []object {
	var list []object
	for _, p := range params {
		out := object{
			"name": p.name, "in": p.in, "description": p.description,
			"schema": object{"type": p.kind, "uniqueItems": true},
		}
		if p.in == "path" {
			out["required"] = true
		}
		list = append(list, out)
	}
	return list
}
