// Package networking holds the kinds of networking.k8s.io.
package networking

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		ingressClasses(features),
		ingresses(features),
		ipAddresses(features),
		networkPolicies(features),
		serviceCIDRs(features),
	}
}
