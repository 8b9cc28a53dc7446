// Package apps holds the kinds of apps/v1.
package apps

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		controllerRevisions(features),
		daemonSets(features),
		deployments(features),
		replicaSets(features),
		statefulSets(features),
	}
}
