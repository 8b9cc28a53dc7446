package registrytest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Cells returns the cells of an object in the Table of a resource.
func Cells(r *registry.Resource, obj runtime.Object) []any {
	cells, _ := r.Columns.Row(obj)
	return cells
}
