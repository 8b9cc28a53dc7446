package api

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// lifecycle of a kind's version, as the Go types of k8s.io/api declare it.
type (
	deprecated interface {
		APILifecycleDeprecated() (major, minor int)
	}
	removed interface {
		APILifecycleRemoved() (major, minor int)
	}
	replaced interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}
)

// warnOfDeprecation warns clients of kinds that will go away.
func (c *call) warnOfDeprecation() {
	obj := c.newBody()
	since, ok := obj.(deprecated)
	if !ok {
		return
	}
	kind := c.kind()
	major, minor := since.APILifecycleDeprecated()
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", kind.GroupVersion(), kind.Kind, major, minor)
	if end, ok := obj.(removed); ok {
		major, minor := end.APILifecycleRemoved()
		text += fmt.Sprintf(", unavailable in v%d.%d+", major, minor)
	}
	if other, ok := obj.(replaced); ok {
		kind := other.APILifecycleReplacement()
		text += fmt.Sprintf("; use %s %s", kind.GroupVersion(), kind.Kind)
	}
	registry.AddWarning(c.r.Context(), text)
}
