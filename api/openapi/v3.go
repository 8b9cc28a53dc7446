package openapi

import (
	"encoding/json"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is a JSON object; encoding/json sorts its keys.
type object = map[string]any

const v3Refs = "#/components/schemas/"

// v3Document describes one group version, or one of the roots above them.
func (d *Documents) v3Document(gv schema.GroupVersion, routes []route) ([]byte, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	schemas := map[string]json.RawMessage{}
	for _, name := range closure(all, models(routes)) {
		kinds := kindsFor(gv, d.kinds()[name])
		if schemas[name], err = withKinds(all[name].V3, kinds); err != nil {
			return nil, err
		}
	}
	paths := object{}
	for _, r := range routes {
		paths[r.path] = v3Path(r)
	}
	return json.Marshal(object{
		"openapi": "3.0.0",
		"info":    d.info(),
		"paths":   paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"BearerToken": bearerToken},
		},
	})
}

// bearerToken is how clients may show who they are.
var bearerToken = object{"type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header"}

// kindsFor leaves out what a type that belongs to every group is called in the
// others.
func kindsFor(gv schema.GroupVersion, kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	if len(kinds) < 2 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(gvk schema.GroupVersionKind) bool {
		return gvk.Group != "" && gvk.GroupVersion() != gv
	})
}

func v3Path(r route) object {
	common, own := r.shared()
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
	for _, code := range o.answer.codes {
		responses[strconv.Itoa(code)] = object{
			"description": codeTexts[code],
			"content":     v3Content(o.answer.media, o.answer.model),
		}
	}
	operation["responses"] = responses
	return operation
}

// describe is what both versions say of an operation in the same way.
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
