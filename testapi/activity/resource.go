package activity

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/miniapi/miniapi/registry"
	openapi "github.com/miniapi/miniapi/testapi/schema"
)

const (
	group   = "miniapi.dev"
	version = "v1alpha1"
)

// definition defines a virtual resource whose objects have the content of a Go type.
type definition[T any] struct {
	name, singular, kind, description string
	columns                           []column[T]
	// list returns the objects.
	list func(ctx context.Context) ([]object[T], error)
}

// object is an object of a virtual resource.
type object[T any] struct {
	metav1.ObjectMeta
	content *T
}

// column is a column of the Table after the name.
type column[T any] struct {
	name, kind, description string
	cell                    func(meta metav1.ObjectMeta, content *T) any
}

// resource returns the resource of a definition.
func (d definition[T]) resource() *registry.Resource {
	kind := schema.GroupVersionKind{Group: group, Version: version, Kind: d.kind}
	return &registry.Resource{
		Group: group, Name: d.name, Singular: d.singular, Kind: d.kind,
		Verbs:   []string{"get", "list"},
		Custom:  true, // objects without a Go type for clients, in JSON and YAML
		Virtual: &registry.Virtual{List: d.objects, Get: d.get},
		Columns: registry.Columns{Definitions: d.columnDefinitions(), Row: d.row},
		Versions: []registry.Version{{
			Name: version,
			New: func() runtime.Object {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(kind)
				return u
			},
			NewList: func() runtime.Object { return &unstructured.UnstructuredList{} },
			Model:   openapi.OfKind(kind, d.description, reflect.TypeFor[T]()),
		}},
	}
}

func (d definition[T]) objects(ctx context.Context, _ *registry.Catalog) ([]runtime.Object, error) {
	list, err := d.list(ctx)
	if err != nil {
		return nil, err
	}
	objects := make([]runtime.Object, len(list))
	for i, o := range list {
		if objects[i], err = o.unstructured(); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func (d definition[T]) get(ctx context.Context, _ *registry.Catalog, name string) (runtime.Object, error) {
	list, err := d.list(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(o object[T]) bool { return o.Name == name })
	if i < 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: d.name}, name)
	}
	return list[i].unstructured()
}

func (o object[T]) unstructured() (runtime.Object, error) {
	data, err := json.Marshal(o.content)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return nil, err
	}
	u.SetName(o.Name)
	u.SetCreationTimestamp(o.CreationTimestamp)
	return u, nil
}

func (d definition[T]) columnDefinitions() []metav1.TableColumnDefinition {
	definitions := []metav1.TableColumnDefinition{{
		Name: "Name", Type: "string", Format: "name", Description: "The name of the " + d.singular + ".",
	}}
	for _, c := range d.columns {
		definitions = append(definitions, metav1.TableColumnDefinition{Name: c.name, Type: c.kind, Description: c.description})
	}
	return definitions
}

func (d definition[T]) row(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
	u := obj.(*unstructured.Unstructured)
	content, cells := new(T), []any{u.GetName()}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, content) // the types are equal
	meta := metav1.ObjectMeta{Name: u.GetName(), CreationTimestamp: u.GetCreationTimestamp()}
	for _, c := range d.columns {
		cells = append(cells, c.cell(meta, content))
	}
	return cells, nil
}
