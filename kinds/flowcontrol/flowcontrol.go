// Package flowcontrol holds the kinds of flowcontrol.apiserver.k8s.io. They are stored and served,
// but do not limit requests.
package flowcontrol

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{flowSchemas(features), priorityLevels(features)}
}
