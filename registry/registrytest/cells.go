package registrytest

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

// Cells returns the cells of an object in the Table of a resource.
func Cells(r *registry.Resource, obj runtime.Object) []any {
	cells, _ := r.Columns.Row(obj)
	for i, cell := range cells {
		if elapsed, ok := cell.(registry.Elapsed); ok {
			cells[i] = elapsed.Text(time.Now())
		}
	}
	return cells
}
