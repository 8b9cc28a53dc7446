// Package certificates holds the kinds of certificates.k8s.io. Nobody signs
// here: requests are stored, approved and given certificates by clients.
package certificates

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{signingRequests()}
}
