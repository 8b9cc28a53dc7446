package openapi

import (
	"encoding/json"
	"strconv"
)

const v2Refs = "#/definitions/"

// v2Document describes everything in one document.
func (d *Documents) v2Document(routes []route) ([]byte, error) {
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	schemas := map[string]json.RawMessage{}
	for _, name := range closure(all, models(routes)) {
		if schemas[name], err = withKinds(all[name].V2, d.kinds()[name]); err != nil {
			return nil, err
		}
	}
	paths := object{}
	for _, r := range routes {
		paths[r.path] = v2Path(r)
	}
	return json.Marshal(object{
		"swagger":             "2.0",
		"info":                d.info(),
		"paths":               paths,
		"definitions":         schemas,
		"securityDefinitions": object{"BearerToken": bearerToken},
		"security":            []object{{"BearerToken": []string{}}},
	})
}

func v2Path(r route) object {
	common, own := r.shared()
	path := object{}
	if len(common) > 0 {
		path["parameters"] = v2Parameters(common)
	}
	for i, o := range r.operations {
		path[o.method] = v2Operation(o, own[i])
	}
	return path
}

func v2Operation(o operation, params []parameter) object {
	operation := describe(o)
	list := v2Parameters(params)
	operation["consumes"] = anything
	if o.body.model != "" {
		operation["consumes"] = o.body.media
		in := object{"name": "body", "in": "body", "schema": schemaOf(v2Refs, o.body.model)}
		if o.body.required {
			in["required"] = true
		}
		list = append(list, in)
	}
	if len(list) > 0 {
		operation["parameters"] = list
	}
	operation["produces"] = o.answer.media
	operation["schemes"] = []string{"https"}
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range o.answer.codes {
		responses[strconv.Itoa(code)] = object{
			"description": codeTexts[code],
			"schema":      schemaOf(v2Refs, o.answer.model),
		}
	}
	operation["responses"] = responses
	return operation
}

func v2Parameters(params []parameter) []object {
	var list []object
	for _, p := range params {
		out := object{"name": p.name, "in": p.in, "description": p.description, "type": p.kind, "uniqueItems": true}
		if p.in == "path" {
			out["required"] = true
		}
		list = append(list, out)
	}
	return list
}
