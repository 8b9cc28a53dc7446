// Package apiextensions holds the kinds of apiextensions.k8s.io.
package apiextensions

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{definitions(features)}
}
