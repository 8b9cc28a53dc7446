package faults

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
	openapi "github.com/miniapi/miniapi/testapi/schema"
)

const description = "Fault injects a failure into the requests that it selects, so that a test can show how a client handles it."

// Resource returns the resource of the faults of a set.
func Resource(s *Set) *registry.Resource {
	model := openapi.OfKind(faultKind, description, contentType)
	return &registry.Resource{
		Group: Group, Name: "faults", Singular: "fault", Kind: faultKind.Kind,
		Verbs:       []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		Custom:      true, // objects without a Go type for clients, in JSON and YAML
		StoragePath: storagePath,
		Codec:       openapi.Codec{},
		Storage:     s.store,
		Strategy:    strategy(),
		Columns:     registry.Columns{Definitions: columns(), Row: row},
		Types:       sync.OnceValues(func() (managedfields.TypeConverter, error) { return openapi.Types(faultKind, model) }),
		Versions: []registry.Version{{
			Name: faultKind.Version,
			New: func() runtime.Object {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(faultKind)
				return u
			},
			NewList: func() runtime.Object { return &unstructured.UnstructuredList{} },
			Prune:   func(obj runtime.Object) ([]string, error) { return openapi.PruneObject(obj, contentType) },
			Model:   model,
		}},
	}
}

// strategy keeps the status, which only the server writes.
func strategy() registry.Strategy {
	return registry.Strategy{
		Create: registry.CreateStrategy{
			ValidateName: validation.NameIsDNSSubdomain,
			Prepare: func(_ context.Context, obj runtime.Object) {
				u := obj.(*unstructured.Unstructured)
				u.Object["status"] = emptyStatus()
				u.SetGeneration(1)
			},
			Validate: func(_ context.Context, obj runtime.Object) field.ErrorList { return validateObject(obj) },
		},
		Update: registry.UpdateStrategy{
			AllowUnconditional: true,
			Prepare:            func(_ context.Context, obj, old runtime.Object) { prepareUpdate(obj, old) },
			Validate:           func(_ context.Context, obj, _ runtime.Object) field.ErrorList { return validateObject(obj) },
			Owns:               kind.Except("status"),
		},
		Delete: registry.DeleteStrategy{NoDependents: true},
	}
}

// prepareUpdate restores the status. If the spec has changed, a new count begins, and the
// generation is incremented.
func prepareUpdate(obj, old runtime.Object) {
	u, before := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	if equality.Semantic.DeepEqual(u.Object["spec"], before.Object["spec"]) {
		u.Object["status"] = runtime.DeepCopyJSONValue(before.Object["status"])
		u.SetGeneration(before.GetGeneration())
		return
	}
	u.Object["status"] = emptyStatus()
	u.SetGeneration(before.GetGeneration() + 1)
}

func emptyStatus() map[string]any { return map[string]any{"matched": int64(0), "injected": int64(0)} }

// validateObject returns the errors of the spec.
func validateObject(obj runtime.Object) field.ErrorList {
	u, path := obj.(*unstructured.Unstructured), field.NewPath("spec")
	if errs := openapi.Check(u.Object["spec"], reflect.TypeFor[Spec](), path); len(errs) > 0 {
		return errs
	}
	fault, err := faultOf(u)
	if err != nil {
		return field.ErrorList{field.Invalid(path, u.Object["spec"], err.Error())}
	}
	return fault.validate(path)
}
