package crd

import (
	"context"
	"errors"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

// definition is what the versions of a custom resource have in common.
//
// Invariant: it does not change after newDefinition.
type definition struct {
	group      string
	names      apiextensionsv1.CustomResourceDefinitionNames
	namespaced bool
	// preserve keeps fields that no schema knows, as definitions of old could ask
	// for.
	preserve bool
	// terminating: the definition is being deleted, and nothing new is created.
	terminating bool
	converter   converter
	versions    []*version // the preferred first
	storage     *version
	// types of the fields are made when they are first needed.
	types func() (managedfields.TypeConverter, error)
}

// newDefinition reads a CustomResourceDefinition whose names are accepted. Its
// converter is to be closed.
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

// resources returns those of the versions that are served.
func (d *definition) resources() []*registry.Resource {
	var served []*registry.Resource
	for _, v := range d.versions {
		if v.spec.Served {
			served = append(served, v.resource())
		}
	}
	return served
}

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

// verbs in the order of kube-apiserver's discovery.
func verbs() []string {
	return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
}

// resource describes the version to the registry.
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
			Default:    v.fill,
			Model:      v.model,
			Deprecated: v.deprecation,
			FieldLabel: v.fieldLabel,
		}},
		Related:      v.related(),
		Strategy:     v.strategy(),
		Fields:       func(obj runtime.Object) fields.Set { return v.selectable(obj) },
		Columns:      columns(v.spec.AdditionalPrinterColumns),
		Subresources: v.subresources(),
		Types:        v.types,
	}
}

// newObject returns an object that names its kind, as decoders expect of one
// that has no Go type.
func (v *version) newObject() runtime.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v.kind())
	return u
}

// related are the other versions, whose field managers are known too.
func (v *version) related() []registry.Version {
	var others []registry.Version
	for _, other := range v.definition.versions {
		if other == v {
			continue
		}
		others = append(others, registry.Version{
			Name:    other.name,
			New:     other.newObject,
			Default: other.fill,
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

func (v *version) strategy() registry.Strategy {
	s := registry.Strategy{
		Create: registry.CreateStrategy{
			ValidateName: validation.NameIsDNSSubdomain,
			Prepare:      func(_ context.Context, obj runtime.Object) { v.prepareCreate(content(obj)) },
			Validate:     v.validate,
			Warnings:     func(_ context.Context, obj runtime.Object) []string { return finalizerWarnings(obj, nil) },
		},
		Update: registry.UpdateStrategy{
			Prepare:  func(_ context.Context, obj, old runtime.Object) { v.prepareUpdate(content(obj), content(old)) },
			Validate: v.validateUpdate,
			Warnings: func(_ context.Context, obj, old runtime.Object) []string { return finalizerWarnings(obj, old) },
		},
	}
	if v.hasStatus() {
		s.Update.Owns = exceptStatus
	}
	if v.terminating {
		s.Create.Forbidden = v.refuseCreate
	}
	return s
}

var errTerminating = errors.New("create not allowed while custom resource definition is terminating")

func (v *version) refuseCreate(obj runtime.Object) error {
	name := ""
	if accessor, err := meta.Accessor(obj); err == nil {
		name = accessor.GetName()
	}
	return apierrors.NewForbidden(v.groupResource(), name, errTerminating)
}
