package crd

import (
	"context"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

// definition is the part that the versions of a custom resource share.
//
// Invariant: it does not change after newDefinition.
type definition struct {
	group      string
	names      apiextensionsv1.CustomResourceDefinitionNames
	namespaced bool
	// preserve keeps unknown fields. Only definitions of old releases have it.
	preserve bool
	// terminating is set while the definition is being deleted. Objects cannot be created then.
	terminating bool
	converter   converter
	versions    []*version // the preferred version first
	storage     *version
	// types is compiled on first use.
	types func() (managedfields.TypeConverter, error)
}

// newDefinition returns the definition of a CustomResourceDefinition whose names are accepted. The
// caller must close its converter.
func newDefinition(crd *apiextensionsv1.CustomResourceDefinition, clients *webhooks.Clients) *definition {
	d := &definition{
		group:       crd.Spec.Group,
		names:       crd.Status.AcceptedNames,
		namespaced:  crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		preserve:    crd.Spec.PreserveUnknownFields,
		terminating: crd.DeletionTimestamp != nil,
		converter:   converterOf(crd, clients),
	}
	d.types = sync.OnceValues(d.compileTypes)
	for i := range crd.Spec.Versions {
		v := newVersion(d, &crd.Spec.Versions[i], crd.Spec.Versions)
		d.versions = append(d.versions, v)
		if v.spec.Storage {
			d.storage = v
		}
	}
	slices.SortFunc(d.versions, func(a, b *version) int {
		return apiversion.CompareKubeAwareVersionStrings(b.name, a.name)
	})
	return d
}

// resources returns the resources of the served versions.
func (d *definition) resources() []*registry.Resource {
	var served []*registry.Resource
	for _, v := range d.versions {
		if v.spec.Served {
			served = append(served, v.resource())
		}
	}
	return served
}

// version returns a version by name, nil if there is none.
func (d *definition) version(name string) *version {
	i := slices.IndexFunc(d.versions, func(v *version) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return d.versions[i]
}

func (d *definition) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: d.group, Resource: d.names.Plural}
}

// verbs are in the order of kube-apiserver's discovery.
func verbs() []string {
	return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
}

// resource returns the resource of the version for the registry.
func (v *version) resource() *registry.Resource {
	return &registry.Resource{
		Group:          v.group,
		Name:           v.names.Plural,
		Singular:       v.names.Singular,
		Kind:           v.names.Kind,
		ListKind:       v.names.ListKind,
		Namespaced:     v.namespaced,
		ShortNames:     v.names.ShortNames,
		Categories:     v.names.Categories,
		Verbs:          verbs(),
		Custom:         true,
		StorageVersion: v.definition.storage.name,
		StoragePath:    v.group + "/" + v.names.Plural,
		Codec:          v,
		Versions: []registry.Version{{
			Name:       v.name,
			New:        v.newObject,
			NewList:    func() runtime.Object { return &unstructured.UnstructuredList{} },
			Prune:      v.prune,
			Default:    v.setDefaults,
			Model:      v.model,
			Deprecated: v.deprecation,
			FieldLabel: v.fieldLabel,
		}},
		Related:      v.related,
		Strategy:     v.strategy(),
		Fields:       func(obj runtime.Object) fields.Set { return v.selectable(obj) },
		Columns:      columns(v.spec.AdditionalPrinterColumns),
		Subresources: v.subresources(),
		Types:        v.types,
	}
}

// newObject returns an object with its apiVersion and kind, which decoders need for an object
// without a Go type.
func (v *version) newObject() runtime.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v.kind())
	return u
}

// related returns the other versions, for the field managers that wrote in them.
func (v *version) related() []registry.Version {
	var others []registry.Version
	for _, other := range v.definition.versions {
		if other == v {
			continue
		}
		others = append(others, registry.Version{
			Name:    other.name,
			New:     other.newObject,
			Default: other.setDefaults,
			ToHub: func(obj runtime.Object) (runtime.Object, error) {
				return other.to(context.Background(), v, content(obj))
			},
			FromHub: func(obj runtime.Object) (runtime.Object, error) {
				return v.to(context.Background(), other, content(obj))
			},
		})
	}
	return others
}
