package node

import (
	"slices"

	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warningsForSelector(c *nodev1.RuntimeClass) []string {
	var warnings []string
	if c.Scheduling != nil {
		for label := range c.Scheduling.NodeSelector {
			warnings = append(warnings, kind.WarningsForNodeLabel(field.NewPath("scheduling", "nodeSelector"), label)...)
		}
	}
	return slices.Sorted(slices.Values(warnings))
}
