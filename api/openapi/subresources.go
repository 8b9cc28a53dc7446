package openapi

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// subresource returns the routes of a subresource.
func (b resourceRoutes) subresource(sub *registry.Subresource) []route {
	path := b.scoped(b.root()) + "/{name}/" + sub.Name
	if b.gv.Group == "" && b.resource.Name == "namespaces" {
		path = b.root() + "/namespaces/{name}/" + sub.Name
	}
	kind := b.kindOf(sub)
	if sub.Connect != nil && kind.Kind == b.resource.Kind {
		return []route{{path: path, operations: []operation{b.readText(sub)}}}
	}
	if sub.Connect != nil {
		return b.connections(path, sub, kind)
	}
	part := objectPart{name: sub.Name, verbs: sub.Verbs, kind: kind, model: b.model()}
	if sub.New != nil {
		part.model = modelName(sub.New())
	}
	operations := b.objectOperations(part)
	if slices.Contains(sub.Verbs, "create") {
		operations = append(operations, b.createPart(part))
	}
	return []route{{path: path, operations: operations}}
}

// kindOf returns the kind of a subresource's body.
func (b resourceRoutes) kindOf(sub *registry.Subresource) schema.GroupVersionKind {
	kind := sub.Kind
	if kind.Kind == "" {
		kind.Kind = b.resource.Kind
	}
	if kind.GroupVersion().Empty() {
		return b.gv.WithKind(kind.Kind)
	}
	return kind
}

func (b resourceRoutes) createPart(part objectPart) operation {
	o := b.operation("post", "post", operationID("create", b.gv, b.scopedKind(title(part.name))),
		"create "+part.name+" of "+withArticle(b.resource.Kind))
	o.kind = part.kind
	o.body = body{part.model, true, anyMediaType}
	o.response = response{[]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, part.model, mediaTypes}
	o.params = b.params(createParameters(), b.resource.Namespaced, part.kind.Kind)
	return o
}

// readText returns the operation of a subresource that is read as text, such as a log.
func (b resourceRoutes) readText(sub *registry.Subresource) operation {
	o := b.operation("get", "get", operationID("read", b.gv, b.scopedKind(title(sub.Name))),
		"read "+sub.Name+" of the specified "+b.resource.Kind)
	o.response = response{[]int{http.StatusOK}, "", logMediaTypes}
	options := b.connectParameters(b.gv.WithKind(b.resource.Kind + title(sub.Name) + "Options"))
	o.params = b.params(options, b.resource.Namespaced, b.resource.Kind)
	return o
}

// connectMethods lists the methods of a connection with the verbs that allow them.
var connectMethods = []struct{ method, verb string }{
	{"get", "get"}, {"post", "create"}, {"put", "update"}, {"delete", "delete"},
	{"options", "update"}, {"head", "update"}, {"patch", "patch"},
}

// connections returns the routes of a subresource that connects to another process, such as exec or
// proxy. If its options have a path, it has a second route with the path.
func (b resourceRoutes) connections(path string, sub *registry.Subresource, kind schema.GroupVersionKind) []route {
	options := b.connectParameters(kind)
	base, withPath := route{path: path}, route{path: path + "/{path}"}
	for _, m := range connectMethods {
		if !slices.Contains(sub.Verbs, m.verb) {
			continue
		}
		o := operation{
			method: m.method, action: "connect", tag: tagOf(b.gv), kind: kind,
			id:          operationID("connect", b.gv, title(m.method)+b.scopedKind(title(sub.Name))),
			description: "connect " + strings.ToUpper(m.method) + " requests to " + sub.Name + " of " + b.resource.Kind,
			response:    response{[]int{http.StatusOK}, "", anyMediaType},
		}
		o.params = append(slices.Clone(options), pathParameter("name", "name of the "+kind.Kind))
		if b.resource.Namespaced {
			o.params = append(o.params, namespaceParameter)
		}
		base.operations = append(base.operations, o)
		o.id += "WithPath"
		o.params = append(slices.Clone(o.params), pathParameter("path", "path to the resource"))
		withPath.operations = append(withPath.operations, o)
	}
	if !slices.ContainsFunc(options, func(p parameter) bool { return p.name == "path" }) {
		return []route{base}
	}
	return []route{base, withPath}
}

// connectParameters returns the parameters of a connection's options, nil if it has none.
func (b resourceRoutes) connectParameters(kind schema.GroupVersionKind) []parameter {
	documented, ok := b.newOptions(kind).(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return nil
	}
	if pointer := reflect.ValueOf(documented); pointer.Kind() == reflect.Pointer {
		documented = pointer.Elem().Interface().(interface{ SwaggerDoc() map[string]string })
	}
	return fromOptions(documented)
}
