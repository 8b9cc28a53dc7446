// Package apiregistration holds the kinds of apiregistration.k8s.io. Package aggregator implements
// them.
package apiregistration

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{apiServices()}
}
