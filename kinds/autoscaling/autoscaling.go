// Package autoscaling holds the kinds of autoscaling/v2 and v1.
package autoscaling

import (
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
)

// Resources returns the kinds in the order of discovery.
func Resources(features *feature.Set) []*registry.Resource {
	return []*registry.Resource{horizontalPodAutoscalers(features)}
}
