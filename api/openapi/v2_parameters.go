package openapi

import (
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

func (w v2Writer) parameters(params []parameter) []any {
	var list []any
	for _, p := range params {
		written, ok := w.known[p]
		if !ok {
			written = w.parameter(p)
			w.known[p] = written
		}
		list = append(list, written)
	}
	return list
}

// inPlace are parameters which stand where they are used: a name is described by
// its kind, and kubectl looks for the others to know what the server can do.
var inPlace = []string{"name", "dryRun", "fieldValidation"}

func (w v2Writer) parameter(p parameter) any {
	if !slices.Contains(inPlace, p.name) {
		return w.share(spec.Parameter{
			CommonValidations: spec.CommonValidations{UniqueItems: true},
			SimpleSchema:      spec.SimpleSchema{Type: p.kind},
			ParamProps:        spec.ParamProps{Name: p.name, In: p.in, Description: p.description, Required: p.in == "path"},
		})
	}
	described := object{"name": p.name, "in": p.in, "description": p.description, "type": p.kind, "uniqueItems": true}
	if p.in == "path" {
		described["required"] = true
	}
	return described
}

func (w v2Writer) body(b body) any {
	if strings.HasPrefix(b.model, "io.k8s.apimachinery") {
		return w.share(spec.Parameter{ParamProps: spec.ParamProps{
			Name: "body", In: "body", Required: b.required, Schema: spec.RefSchema(v2Refs + b.model),
		}})
	}
	described := object{"name": "body", "in": "body", "schema": schemaOf(v2Refs, b.model)}
	if b.required {
		described["required"] = true
	}
	return described
}

// share returns a reference to a parameter. Its name is made of its content, in
// the encoding and with the function of kube-apiserver, so that all parts, and all
// servers, have the same.
func (w v2Writer) share(p spec.Parameter) object {
	text := encode(p)
	hash := fnv.New64()
	hash.Write(text)
	name := p.Name + "-" + base64.URLEncoding.EncodeToString(hash.Sum(nil)[:6])
	w.shared[name] = text
	return object{"$ref": "#/parameters/" + name}
}
