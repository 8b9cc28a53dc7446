// Package core holds the kinds of the core group, core/v1.
package core

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{
		bindings(features),
		componentStatuses(features),
		configMaps(features),
		endpoints(features),
		Events().Build(features),
		limitRanges(features),
		namespaces(features),
		nodes(features),
		persistentVolumeClaims(features),
		persistentVolumes(features),
		pods(features),
		podTemplates(features),
		replicationControllers(features),
		resourceQuotas(features),
		secrets(features),
		serviceAccounts(features),
		services(features),
	}
}
