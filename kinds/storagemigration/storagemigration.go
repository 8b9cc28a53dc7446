// Package storagemigration holds the kinds of storagemigration.k8s.io.
package storagemigration

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{storageVersionMigrations(features)}
}
