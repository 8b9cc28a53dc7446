package openapi

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

var (
	statusModel = modelName(metav1.Status{})
	patchModel  = modelName(metav1.Patch{})
	deleteModel = modelName(metav1.DeleteOptions{})

	objectMetaModel = modelName(metav1.ObjectMeta{})
	listMetaModel   = modelName(metav1.ListMeta{})
)

// resourceRoutes creates the routes of one resource in one version.
type resourceRoutes struct {
	resource *registry.Resource
	version  registry.Version
	gv       schema.GroupVersion
	// patchTypes lists the content types of patches.
	patchTypes []string
	// newOptions returns an object with the parameters of a connection, nil for an unknown kind.
	newOptions func(kind schema.GroupVersionKind) any
}

func (b resourceRoutes) root() string { return rootOf(b.gv) }

// rootOf returns the path of a group version.
func rootOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// build returns all routes: of the resource, its subresources, the list across namespaces, and the
// deprecated watch paths.
func (b resourceRoutes) build() []route {
	if b.resource.Custom {
		return b.buildCustom()
	}
	routes := []route{
		b.collection(b.scoped(b.root()), b.scopedKind(""), ""),
		b.item(),
	}
	if b.resource.Namespaced {
		all := b.collection(b.root()+"/"+b.resource.Name, b.resource.Kind, "ForAllNamespaces")
		all.operations = slices.DeleteFunc(all.operations, func(o operation) bool { return o.action != "list" })
		routes = append(routes, all)
	}
	for i := range b.resource.Subresources {
		routes = append(routes, b.subresource(&b.resource.Subresources[i])...)
	}
	routes = append(routes, b.watches()...)
	return slices.DeleteFunc(routes, func(r route) bool { return len(r.operations) == 0 })
}

// scoped returns the path of the collection below root.
func (b resourceRoutes) scoped(root string) string {
	if b.resource.Namespaced {
		return root + "/namespaces/{namespace}/" + b.resource.Name
	}
	return root + "/" + b.resource.Name
}

// scopedKind returns the kind in operation identifiers. suffix names a subresource.
func (b resourceRoutes) scopedKind(suffix string) string {
	if b.resource.Namespaced {
		return "Namespaced" + b.resource.Kind + suffix
	}
	return b.resource.Kind + suffix
}

// params returns own with the parameters of every request and of the path. named is the kind of
// the object that the path names, "" if it names none.
func (b resourceRoutes) params(own []parameter, namespaced bool, named string) []parameter {
	params := append(slices.Clone(own), pretty)
	if namespaced {
		params = append(params, namespaceParameter)
	}
	if named != "" {
		params = append(params, pathParameter("name", "name of the "+named))
	}
	return params
}

var namespaceParameter = pathParameter("namespace", "object name and auth scope, such as for teams and projects")

func (b resourceRoutes) operation(method, action, id, description string) operation {
	return operation{
		method: method, action: action, description: description,
		id: id, tag: tagOf(b.gv), kind: b.gv.WithKind(b.resource.Kind),
	}
}

func (b resourceRoutes) has(verb string) bool { return slices.Contains(b.resource.Verbs, verb) }

func (b resourceRoutes) model() string {
	if b.resource.Custom {
		return customName(b.gv.WithKind(b.resource.Kind))
	}
	return modelName(b.version.New())
}

func (b resourceRoutes) listModel() string {
	if b.resource.Custom {
		return customName(b.gv.WithKind(b.listKind()))
	}
	if b.version.NewList == nil {
		return ""
	}
	return modelName(b.version.NewList())
}

// collection returns the route with the operations on all objects of a scope.
func (b resourceRoutes) collection(path, name, suffix string) route {
	r := route{path: path}
	namespaced := b.resource.Namespaced && suffix == ""
	kind := b.resource.Kind
	if b.has("list") {
		o := b.operation("get", "list", operationID("list", b.gv, name+suffix), "list or watch objects of kind "+kind)
		o.response = response{[]int{http.StatusOK}, b.listModel(), mediaTypes}
		if b.has("watch") {
			o.response.media = watchMediaTypes
		}
		o.params = b.params(listParameters(), namespaced, "")
		r.operations = append(r.operations, o)
	}
	if b.has("create") {
		o := b.operation("post", "post", operationID("create", b.gv, name), "create "+withArticle(kind))
		o.body = body{b.model(), true, anyMediaType}
		o.response = response{[]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, b.model(), mediaTypes}
		o.params = b.params(createParameters(), namespaced, "")
		r.operations = append(r.operations, o)
	}
	if b.has("deletecollection") {
		o := b.operation("delete", "deletecollection", operationID("delete", b.gv, "Collection"+name), "delete collection of "+kind)
		o.body = body{deleteModel, false, anyMediaType}
		o.response = response{[]int{http.StatusOK}, statusModel, mediaTypes}
		o.params = b.params(deleteCollectionParameters(), namespaced, "")
		r.operations = append(r.operations, o)
	}
	return r
}

// item returns the route with the operations on one object.
func (b resourceRoutes) item() route {
	part := objectPart{verbs: b.resource.Verbs, kind: b.gv.WithKind(b.resource.Kind), model: b.model()}
	r := route{path: b.scoped(b.root()) + "/{name}", operations: b.objectOperations(part)}
	if b.has("delete") {
		kind := b.resource.Kind
		o := b.operation("delete", "delete", operationID("delete", b.gv, b.scopedKind("")), "delete "+withArticle(kind))
		o.body = body{deleteModel, false, anyMediaType}
		o.response = response{[]int{http.StatusOK, http.StatusAccepted}, statusModel, mediaTypes}
		if b.resource.Strategy.Delete.ReturnObject {
			o.response.model = b.model()
		}
		o.params = b.params(deleteParameters(), b.resource.Namespaced, kind)
		r.operations = append(r.operations, o)
	}
	return r
}

// objectPart is an object or a subresource of it.
type objectPart struct {
	name  string // of the subresource
	verbs []string
	kind  schema.GroupVersionKind
	model string
}

// of returns the part for a description: "status of the specified ".
func (p objectPart) of() string {
	if p.name == "" {
		return "the specified "
	}
	return p.name + " of the specified "
}

// objectOperations returns the operations that read and change an object or a part of it.
func (b resourceRoutes) objectOperations(part objectPart) []operation {
	kinds := []struct {
		verb, method, id, description string
		params                        []parameter
		codes                         []int
		body                          body
	}{
		{"get", "get", "read", "read ", nil, []int{http.StatusOK}, body{}},
		{"update", "put", "replace", "replace ", updateParameters(), []int{http.StatusOK, http.StatusCreated}, body{part.model, true, anyMediaType}},
		{"patch", "patch", "patch", "partially update ", patchParameters(), []int{http.StatusOK, http.StatusCreated}, body{patchModel, true, b.patchTypes}},
	}
	var operations []operation
	for _, k := range kinds {
		if !slices.Contains(part.verbs, k.verb) {
			continue
		}
		o := b.operation(k.method, k.method, operationID(k.id, b.gv, b.scopedKind(title(part.name))), k.description+part.of()+b.resource.Kind)
		o.kind, o.body = part.kind, k.body
		o.response = response{k.codes, part.model, mediaTypes}
		o.params = b.params(k.params, b.resource.Namespaced, part.kind.Kind)
		operations = append(operations, o)
	}
	return operations
}

// watches returns the routes below /watch/, which are deprecated.
func (b resourceRoutes) watches() []route {
	if !b.has("watch") {
		return nil
	}
	kind, root := b.resource.Kind, b.root()+"/watch"
	individual := "watch individual changes to a list of " + kind + ". deprecated: use the 'watch' parameter with a list operation instead."
	single := "watch changes to an object of kind " + kind + ". deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter."
	namespaced := b.resource.Namespaced
	routes := []route{
		b.watch(b.scoped(root), "watchlist", b.scopedKind("List"), individual, b.params(listParameters(), namespaced, "")),
		b.watch(b.scoped(root)+"/{name}", "watch", b.scopedKind(""), single, b.params(listParameters(), namespaced, kind)),
	}
	if namespaced {
		routes = append(routes, b.watch(root+"/"+b.resource.Name, "watchlist", kind+"ListForAllNamespaces", individual, b.params(listParameters(), false, "")))
	}
	return routes
}

func (b resourceRoutes) watch(path, action, name, description string, params []parameter) route {
	o := b.operation("get", action, operationID("watch", b.gv, name), description)
	o.response = response{[]int{http.StatusOK}, modelName(metav1.WatchEvent{}), watchMediaTypes}
	o.params = params
	return route{path: path, operations: []operation{o}}
}
