package crd

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
)

var exceptStatus, onlyStatus = kind.Except("status"), kind.Except("metadata", "spec")

func (v *version) hasStatus() bool {
	return v.spec.Subresources != nil && v.spec.Subresources.Status != nil
}

// prepareCreate: where the status has an endpoint of its own, it is written
// there only.
func (v *version) prepareCreate(object map[string]any) {
	if v.hasStatus() {
		delete(object, "status")
	}
	(&unstructured.Unstructured{Object: object}).SetGeneration(1)
}

func (v *version) prepareUpdate(object, old map[string]any) {
	if v.hasStatus() {
		share(object, old, "status")
	}
	if !equality.Semantic.DeepEqual(exceptMetadata(object), exceptMetadata(old)) {
		generation := (&unstructured.Unstructured{Object: old}).GetGeneration()
		(&unstructured.Unstructured{Object: object}).SetGeneration(generation + 1)
	}
}

// prepareStatus takes nothing but the status from a write, and what the field
// managers noted of it.
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

// share gives an object the field of another one.
func share(object, from map[string]any, name string) {
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
