// Package discovery holds the kinds of discovery.k8s.io.
package discovery

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{endpointSlices()}
}
