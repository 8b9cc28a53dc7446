// Package networking holds the kinds of networking.k8s.io.
package networking

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		ingressClasses(),
		ingresses(),
		ipAddresses(),
		networkPolicies(),
		serviceCIDRs(),
	}
}
