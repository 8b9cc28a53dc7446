package openapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// kube-apiserver describes custom resources by other code than built-in resources: watches and the
// bodies of deletions have fewer details, parameters have more.

// customMediaTypes lists the media types of custom resources.
var customMediaTypes = []string{"application/json", "application/yaml"}

// customName returns the model name of a custom kind.
func customName(kind schema.GroupVersionKind) string {
	words := strings.Split(kind.Group, ".")
	slices.Reverse(words)
	return strings.Join(append(words, kind.Version, kind.Kind), ".")
}

func (b resourceRoutes) listKind() string {
	if b.resource.ListKind != "" {
		return b.resource.ListKind
	}
	return b.resource.Kind + "List"
}

// buildCustom returns all routes of a custom resource.
func (b resourceRoutes) buildCustom() []route {
	path := b.scoped(b.root())
	routes := []route{
		{path, []operation{b.customList(b.scopedKind("")), b.customCreate(), b.customDeleteCollection()}},
		{path + "/{name}", append(b.customParts("", b.model()), b.customDelete())},
	}
	for _, sub := range b.resource.Subresources {
		model := b.model()
		if sub.New != nil {
			model = modelName(sub.New())
		}
		routes = append(routes, route{path + "/{name}/" + sub.Name, b.customParts(sub.Name, model)})
	}
	if b.resource.Namespaced {
		all := b.customList(b.resource.Kind + "ForAllNamespaces")
		all.params = b.params(listParameters(), false, "")
		routes = append(routes, route{b.root() + "/" + b.resource.Name, []operation{all}})
	}
	return b.supported(routes)
}

// customVerbs has the verb of each operation of a custom resource whose action is another word.
var customVerbs = map[string]string{"post": "create", "put": "update"}

// supported removes the operations whose verbs the resource does not have. Only a custom resource
// that is virtual lacks verbs.
func (b resourceRoutes) supported(routes []route) []route {
	if b.resource.Virtual == nil {
		return routes
	}
	for i := range routes {
		routes[i].operations = slices.DeleteFunc(routes[i].operations, func(o operation) bool {
			return !b.has(cmp.Or(customVerbs[o.action], o.action))
		})
	}
	return slices.DeleteFunc(routes, func(r route) bool { return len(r.operations) == 0 })
}

// customOperation returns an operation whose response is an object of the resource.
func (b resourceRoutes) customOperation(method, action, id, description string) operation {
	o := b.operation(method, action, id, description)
	o.body.media = customMediaTypes
	o.response = response{[]int{http.StatusOK}, b.model(), customMediaTypes}
	return o
}

func (b resourceRoutes) customList(name string) operation {
	o := b.customOperation("get", "list", operationID("list", b.gv, name), "list objects of kind "+b.resource.Kind)
	o.params = b.params(listParameters(), b.resource.Namespaced, "")
	o.response.model = b.listModel()
	return o
}

func (b resourceRoutes) customCreate() operation {
	o := b.customOperation("post", "post", operationID("create", b.gv, b.scopedKind("")), "create "+withArticle(b.resource.Kind))
	o.params = b.params(createParameters(), b.resource.Namespaced, "")
	o.body = body{b.model(), true, customMediaTypes}
	o.response.codes = []int{http.StatusOK, http.StatusCreated, http.StatusAccepted}
	return o
}

func (b resourceRoutes) customDeleteCollection() operation {
	o := b.customOperation("delete", "deletecollection", operationID("delete", b.gv, "Collection"+b.scopedKind("")), "delete collection of "+b.resource.Kind)
	o.params = b.params(listParameters(), b.resource.Namespaced, "")
	o.response.model = statusModel
	return o
}

func (b resourceRoutes) customDelete() operation {
	kind := b.resource.Kind
	o := b.customOperation("delete", "delete", operationID("delete", b.gv, b.scopedKind("")), "delete "+withArticle(kind))
	o.params = b.params(deleteParameters(), b.resource.Namespaced, kind)
	o.body = body{deleteModel, false, customMediaTypes}
	o.response = response{[]int{http.StatusOK, http.StatusAccepted}, statusModel, customMediaTypes}
	return o
}

// customParts returns the operations that read and change an object or a subresource of it.
func (b resourceRoutes) customParts(subresource, model string) []operation {
	part := objectPart{name: subresource}
	describe := func(method, verb, text string, params []parameter) operation {
		o := b.customOperation(method, method, operationID(verb, b.gv, b.scopedKind(title(subresource))), text+part.of()+b.resource.Kind)
		o.params = b.params(params, b.resource.Namespaced, b.resource.Kind)
		o.response.model = model
		return o
	}
	get := describe("get", "read", "read ", getParameters())
	put := describe("put", "replace", "replace ", updateParameters())
	put.body = body{model, true, customMediaTypes}
	put.response.codes = []int{http.StatusOK, http.StatusCreated}
	patch := describe("patch", "patch", "partially update ", patchParameters())
	patch.body = body{patchModel, true, b.patchTypes}
	return []operation{get, put, patch}
}

// customModels returns the schemas of the custom resources of a part, by name.
func (p *part) customModels(v2 bool) (map[string]pieces, error) {
	models := map[string]pieces{}
	for _, r := range p.resources {
		if !r.Custom {
			continue
		}
		b := p.describe(r)
		model, err := b.version.Model(v2)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(model)
		if err != nil {
			return nil, err
		}
		models[b.model()] = pieces{text}
		models[b.listModel()] = pieces{encode(b.customListModel(v2, model))}
	}
	return models, nil
}

// selectableFields is an extension of a model and of the model of its list.
const selectableFields = "x-kubernetes-selectable-fields"

func (b resourceRoutes) customListModel(v2 bool, item *spec.Schema) object {
	refs := v3Refs
	if v2 {
		refs = v2Refs
	}
	docs := metav1.TypeMeta{}.SwaggerDoc()
	metadata := schemaOf(refs, listMetaModel)
	if !v2 { // version 3 allows no other members beside $ref
		metadata = object{"allOf": []object{metadata}}
	}
	metadata["description"] = metav1beta1.PartialObjectMetadataList{}.SwaggerDoc()["metadata"]
	list := object{
		"type":        "object",
		"description": b.listKind() + " is a list of " + b.resource.Kind,
		"required":    []string{"items"},
		"properties": object{
			"apiVersion": object{"type": "string", "description": docs["apiVersion"]},
			"kind":       object{"type": "string", "description": docs["kind"]},
			"metadata":   metadata,
			"items": object{
				"type":        "array",
				"description": "List of " + b.resource.Name + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
				"items":       schemaOf(refs, b.model()),
			},
		},
		"x-kubernetes-group-version-kind": []groupVersionKind{groupVersionKind(b.gv.WithKind(b.listKind()))},
	}
	if paths, ok := item.Extensions[selectableFields]; ok {
		list[selectableFields] = paths
	}
	return list
}

// clientKinds returns the kinds of a definition in documents of custom resources. They contain the
// kinds of client-go's scheme instead of the server's, which differ for DeleteOptions only.
func clientKinds(name string, kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	if name != deleteModel {
		return kinds
	}
	kinds = nil
	for line := range strings.Lines(clientGroupVersions) {
		group, versions, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "/")
		for version := range strings.FieldsSeq(versions) {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: "DeleteOptions"})
		}
	}
	return kinds
}

// clientGroupVersions lists the group versions in client-go's scheme of Kubernetes 1.36.
const clientGroupVersions = `/v1
admissionregistration.k8s.io/v1 v1alpha1 v1beta1
apps/v1 v1beta1 v1beta2
authentication.k8s.io/v1 v1alpha1 v1beta1
authorization.k8s.io/v1 v1beta1
autoscaling/v1 v2
batch/v1 v1beta1
certificates.k8s.io/v1 v1alpha1 v1beta1
coordination.k8s.io/v1 v1alpha2 v1beta1
discovery.k8s.io/v1 v1beta1
events.k8s.io/v1 v1beta1
extensions/v1beta1
flowcontrol.apiserver.k8s.io/v1 v1beta1 v1beta2 v1beta3
internal.apiserver.k8s.io/v1alpha1
networking.k8s.io/v1 v1beta1
node.k8s.io/v1 v1alpha1 v1beta1
policy/v1 v1beta1
rbac.authorization.k8s.io/v1 v1alpha1 v1beta1
resource.k8s.io/v1 v1alpha3 v1beta1 v1beta2
scheduling.k8s.io/v1 v1alpha2 v1beta1
storage.k8s.io/v1 v1alpha1 v1beta1
storagemigration.k8s.io/v1beta1
`
