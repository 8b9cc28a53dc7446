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
		encoded, ok := w.known[p]
		if !ok {
			encoded = w.parameter(p)
			w.known[p] = encoded
		}
		list = append(list, encoded)
	}
	return list
}

// inlineParameters are not referenced: the description of a name depends on the kind, and kubectl
// searches the operations for the others to detect features of the server.
var inlineParameters = []string{"name", "dryRun", "fieldValidation"}

func (w v2Writer) parameter(p parameter) any {
	if !slices.Contains(inlineParameters, p.name) {
		return w.share(spec.Parameter{
			CommonValidations: spec.CommonValidations{UniqueItems: true},
			SimpleSchema:      spec.SimpleSchema{Type: p.kind},
			ParamProps:        spec.ParamProps{Name: p.name, In: p.in, Description: p.description, Required: p.in == "path"},
		})
	}
	inline := object{"name": p.name, "in": p.in, "description": p.description, "type": p.kind, "uniqueItems": true}
	if p.in == "path" {
		inline["required"] = true
	}
	return inline
}

func (w v2Writer) body(b body) any {
	if strings.HasPrefix(b.model, "io.k8s.apimachinery") {
		return w.share(spec.Parameter{ParamProps: spec.ParamProps{
			Name: "body", In: "body", Required: b.required, Schema: spec.RefSchema(v2Refs + b.model),
		}})
	}
	inline := object{"name": "body", "in": "body", "schema": schemaOf(v2Refs, b.model)}
	if b.required {
		inline["required"] = true
	}
	return inline
}

// share returns a reference to a parameter. Its name is derived from its content with the encoding
// and hash function of kube-apiserver, so that all parts and all servers use the same name.
func (w v2Writer) share(p spec.Parameter) object {
	text := encode(p)
	hash := fnv.New64()
	hash.Write(text)
	name := p.Name + "-" + base64.URLEncoding.EncodeToString(hash.Sum(nil)[:6])
	w.shared[name] = text
	return object{"$ref": "#/parameters/" + name}
}
