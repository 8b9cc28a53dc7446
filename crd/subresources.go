package crd

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

// subresources returns the subresources in the order of kube-apiserver's discovery.
func (v *version) subresources() []registry.Subresource {
	var list []registry.Subresource
	if v.hasStatus() {
		status := kind.WriteSubresource("status", registry.UpdateStrategy{
			Prepare:  func(_ context.Context, obj, old runtime.Object) { v.prepareStatus(content(obj), content(old)) },
			Validate: v.validateStatus,
			Owns:     onlyStatus,
		})
		status.Kind.Kind = v.names.Kind
		list = append(list, status)
	}
	if v.scale() != nil {
		list = append(list, v.scaleSubresource())
	}
	return list
}
