// Package scheduling holds the kinds of scheduling.k8s.io.
package scheduling

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{priorityClasses()}
}
