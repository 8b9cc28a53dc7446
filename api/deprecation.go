package api

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// The methods with which Go types of k8s.io/api declare the lifecycle of a version.
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

// deprecations caches the warning of each kind, which takes an object to compute.
type deprecations struct{ texts sync.Map } // from GroupVersionKind to string

// warnOfDeprecation adds a warning if the requested version is deprecated.
func (c *call) warnOfDeprecation() {
	if c.version.Deprecated != "" {
		registry.AddWarning(c.r.Context(), c.version.Deprecated)
		return
	}
	kind := c.kind()
	text, ok := c.server.deprecated.texts.Load(kind)
	if !ok {
		text = deprecationWarning(c.newBody(), kind)
		c.server.deprecated.texts.Store(kind, text)
	}
	if text != "" {
		registry.AddWarning(c.r.Context(), text.(string))
	}
}

// deprecationWarning returns the warning of a kind, "" if it is not deprecated.
func deprecationWarning(obj runtime.Object, kind schema.GroupVersionKind) string {
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
	if r, ok := obj.(replaced); ok {
		kind := r.APILifecycleReplacement()
		text += fmt.Sprintf("; use %s %s", kind.GroupVersion(), kind.Kind)
	}
	return text
}
