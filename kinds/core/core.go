// Package core holds the kinds of the core group, core/v1.
package core

import "github.com/miniapi/miniapi/registry"

// Resources returns the kinds in the order of discovery.
func Resources() []*registry.Resource {
	return []*registry.Resource{
		bindings(),
		componentStatuses(),
		configMaps(),
		endpoints(),
		Events().Build(),
		limitRanges(),
		namespaces(),
		nodes(),
		persistentVolumeClaims(),
		persistentVolumes(),
		pods(),
		podTemplates(),
		replicationControllers(),
		resourceQuotas(),
		secrets(),
		serviceAccounts(),
		services(),
	}
}
