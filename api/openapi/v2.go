package openapi

import (
	"slices"
	"strconv"
)

const v2Refs = "#/definitions/"

// v2Header returns the members of the document of version 2 that do not depend on the catalog.
func v2Header(release string) members {
	var header members
	header.set("swagger", []byte(`"2.0"`))
	header.set("info", encode(serverInfo(release)))
	header.set("securityDefinitions", encode(object{"BearerToken": bearerToken}))
	header.set("security", encode([]object{{"BearerToken": []string{}}}))
	return header
}

func v2Text(header members, s sections) pieces {
	document := members{slices.Clone(header.text)}
	document.set("paths", s.paths.object()...)
	document.set("definitions", s.definitions.object()...)
	document.set("parameters", s.parameters.object()...)
	return document.object()
}

// v2Writer encodes routes. Like kube-apiserver it references most parameters: there are about 40 of
// them, and thousands of operations.
type v2Writer struct {
	shared map[string][]byte // encoded parameters by reference name
	known  map[parameter]any // the parameter or reference in an operation
}

func newV2Writer() v2Writer {
	return v2Writer{shared: map[string][]byte{}, known: map[parameter]any{}}
}

func (w v2Writer) path(r route) object {
	common, own := r.splitParameters()
	path := object{}
	if len(common) > 0 {
		path["parameters"] = w.parameters(common)
	}
	for i, o := range r.operations {
		path[o.method] = w.operation(o, own[i])
	}
	return path
}

func (w v2Writer) operation(o operation, params []parameter) object {
	operation := describe(o)
	list := w.parameters(params)
	operation["consumes"] = o.body.media
	if o.body.media == nil {
		operation["consumes"] = anyMediaType
	}
	if o.body.model != "" {
		list = append(list, w.body(o.body))
	}
	if len(list) > 0 {
		operation["parameters"] = list
	}
	operation["produces"] = o.response.media
	operation["schemes"] = []string{"https"}
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range o.response.codes {
		responses[strconv.Itoa(code)] = object{
			"description": codeTexts[code],
			"schema":      schemaOf(v2Refs, o.response.model),
		}
	}
	operation["responses"] = responses
	return operation
}
