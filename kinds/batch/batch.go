// Package batch hasCondition the kinds of batch/v1.
package batch

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		cronJobs(features),
		jobs(features),
	}
}
