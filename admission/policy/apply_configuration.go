package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

var applyConfigurationType = types.NewObjectType("Object")

// mergeApplyConfiguration is the patch of a mutation with an apply configuration. The fields that
// it sets have no field manager.
func mergeApplyConfiguration(value ref.Val, s *subject) (runtime.Object, error) {
	configuration, err := newApplyConfiguration(value)
	if err != nil {
		return nil, err
	}
	configuration.SetGroupVersionKind(s.target.Kind)
	merged, err := s.merge(configuration)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	document, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	return s.target.Decode(document)
}

// newApplyConfiguration converts an Object, the type that CEL has for apply configurations.
func newApplyConfiguration(value ref.Val) (*unstructured.Unstructured, error) {
	obj, ok := value.(*dynamic.ObjectVal)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	if err := obj.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	fields, ok := obj.Value().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid return type: %T", value)
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

// merge returns the object with the fields of an apply configuration.
func (s *subject) merge(configuration *unstructured.Unstructured) (runtime.Object, error) {
	change, err := s.types.ObjectToTyped(configuration)
	if err != nil {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if atomic := atomicPaths(nil, change.Schema(), change.TypeRef(), change.AsValue()); len(atomic) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(atomic, ", "))
	}
	current, err := s.types.ObjectToTyped(s.Object, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	merged, err := current.Merge(change)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	obj, err := s.types.TypedToObject(merged)
	if err != nil {
		return nil, fmt.Errorf("failed to convert typed object to object: %w", err)
	}
	return obj, nil
}

// atomicPaths returns the paths of the atomic lists, maps and structs in a value. A mutation must
// not set one of them, because it would remove all elements that it leaves out.
func atomicPaths(at fieldpath.Path, s *schema.Schema, of schema.TypeRef, v value.Value) []string {
	atom, ok := s.Resolve(of)
	if !ok {
		return nil
	}
	switch {
	case v.IsMap() && atom.Map != nil:
		return atomicPathsOfMap(at, s, atom.Map, v.AsMap())
	case v.IsList() && atom.List != nil:
		return atomicPathsOfList(at, s, atom.List, v.AsList())
	}
	return nil
}

func atomicPathsOfMap(at fieldpath.Path, s *schema.Schema, of *schema.Map, fields value.Map) []string {
	var paths []string
	if of.ElementRelationship == schema.Atomic {
		paths = append(paths, at.String())
	}
	fields.Iterate(func(name string, v value.Value) bool {
		if field, ok := of.FindField(name); ok {
			child := append(at.Copy(), fieldpath.PathElement{FieldName: &name})
			paths = append(paths, atomicPaths(child, s, field.Type, v)...)
		}
		return true
	})
	return paths
}

func atomicPathsOfList(at fieldpath.Path, s *schema.Schema, of *schema.List, items value.List) []string {
	var paths []string
	if of.ElementRelationship == schema.Atomic {
		paths = append(paths, at.String())
	}
	for i := range items.Length() {
		child := append(at.Copy(), fieldpath.PathElement{Index: &i})
		paths = append(paths, atomicPaths(child, s, of.ElementType, items.At(i))...)
	}
	return paths
}
