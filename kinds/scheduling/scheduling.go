// Package scheduling holds the kinds of scheduling.k8s.io.
package scheduling

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{priorityClasses(features)}
}
