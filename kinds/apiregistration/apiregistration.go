// Package apiregistration holds the kinds of apiregistration.k8s.io. Package aggregator implements
// them.
package apiregistration

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{apiServices(features)}
}
