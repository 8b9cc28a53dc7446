package api

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
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

// deprecations keeps what there is to warn of, by kind: to find out takes a
// whole object.
type deprecations struct{ texts sync.Map } // from GroupVersionKind to string

// warnOfDeprecation warns clients of kinds that will go away.
func (c *call) warnOfDeprecation() {
	if c.version.Deprecated != "" {
		registry.AddWarning(c.r.Context(), c.version.Deprecated)
		return
	}
	kind := c.kind()
	text, known := c.server.deprecated.texts.Load(kind)
	if !known {
		text = deprecationOf(c.newBody(), kind)
		c.server.deprecated.texts.Store(kind, text)
	}
	if text != "" {
		registry.AddWarning(c.r.Context(), text.(string))
	}
}

// deprecationOf returns the warning of a kind, "" if it is to stay.
func deprecationOf(obj runtime.Object, kind schema.GroupVersionKind) string {
	since, ok := obj.(deprecated)
	if !ok {
		return ""
	}
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
	return text
}
