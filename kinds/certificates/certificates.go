// Package certificates holds the kinds of certificates.k8s.io. There is no signer: clients approve
// requests and write certificates.
package certificates

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{signingRequests(features), clusterTrustBundles(features), podCertificateRequests(features)}
}
