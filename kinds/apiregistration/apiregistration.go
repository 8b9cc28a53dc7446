// Package apiregistration holds the kinds of apiregistration.k8s.io. They are
// stored and served; requests are not passed on to the servers they name.
package apiregistration

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{apiServices()}
}
