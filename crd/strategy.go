package crd

import (
	"context"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

var exceptStatus, onlyStatus = kind.Except("status"), kind.Except("metadata", "spec")

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
		s.Create.Forbidden = v.forbidCreate
	}
	return s
}

var errTerminating = errors.New("create not allowed while custom resource definition is terminating")

// forbidCreate returns the error for a create while the definition is being deleted.
func (v *version) forbidCreate(obj runtime.Object) error {
	name := ""
	if accessor, err := meta.Accessor(obj); err == nil {
		name = accessor.GetName()
	}
	return apierrors.NewForbidden(v.groupResource(), name, errTerminating)
}

func (v *version) hasStatus() bool {
	return v.spec.Subresources != nil && v.spec.Subresources.Status != nil
}

// prepareCreate removes the status if it is a subresource, and sets the generation.
func (v *version) prepareCreate(object map[string]any) {
	if v.hasStatus() {
		delete(object, "status")
	}
	(&unstructured.Unstructured{Object: object}).SetGeneration(1)
}

// prepareUpdate keeps the status if it is a subresource, and increments the generation if anything
// but the metadata has changed.
func (v *version) prepareUpdate(object, old map[string]any) {
	if v.hasStatus() {
		copyField(object, old, "status")
	}
	if !equality.Semantic.DeepEqual(exceptMetadata(object), exceptMetadata(old)) {
		generation := (&unstructured.Unstructured{Object: old}).GetGeneration()
		(&unstructured.Unstructured{Object: object}).SetGeneration(generation + 1)
	}
}

// prepareStatus restores all fields of the old object except the status and the field managers.
func (v *version) prepareStatus(object, old map[string]any) {
	managers := (&unstructured.Unstructured{Object: object}).GetManagedFields()
	for name := range object {
		if name != "status" {
			delete(object, name)
		}
	}
	for name, value := range old {
		if name != "status" {
			object[name] = runtime.DeepCopyJSONValue(value)
		}
	}
	(&unstructured.Unstructured{Object: object}).SetManagedFields(managers)
}

// copyField copies a field from another object.
func copyField(object, from map[string]any, name string) {
	value, ok := from[name]
	if !ok {
		delete(object, name)
		return
	}
	object[name] = runtime.DeepCopyJSONValue(value)
}

func exceptMetadata(object map[string]any) map[string]any {
	out := maps.Clone(object)
	delete(out, "metadata")
	return out
}
