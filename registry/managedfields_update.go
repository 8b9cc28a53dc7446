package registry

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// invalidManagersText is a text of kube-apiserver.
const invalidManagersText = ".metadata.managedFields was in an invalid state after admission; " +
	"this could be caused by an outdated mutating admission controller; please fix your requests: %v"

// writer returns the options with the manager that owns the changes of an update. The changes of
// a POST to a subresource, such as a binding, belong to the server itself.
func (op *updateOp) writer() WriteOptions {
	opts := op.req.Options
	if sub, ok := op.store.resource.Subresource(op.req.Subresource); ok && sub.Create != nil {
		opts.FieldManager = ""
	}
	return opts
}

// viewManagers computes the managers of the one field that a view has of its object. The zero
// value computes nothing.
type viewManagers struct {
	handler *managedfields.ScaleHandler
}

// newViewManagers sets the managers of the field of obj on its view.
func (op *updateOp) newViewManagers(view, obj runtime.Object) (viewManagers, error) {
	if op.view.Replicas == nil || !op.store.tracks(op.req.Options) {
		return viewManagers{}, nil
	}
	from, err := meta.Accessor(obj)
	if err != nil {
		return viewManagers{}, err
	}
	to, err := meta.Accessor(view)
	if err != nil {
		return viewManagers{}, err
	}
	r := op.store.resource
	paths := managedfields.ResourcePathMappings{}
	for _, v := range r.allVersions() {
		paths[schema.GroupVersion{Group: r.Group, Version: v.Name}.String()] = op.view.Replicas(v.Name)
	}
	written := schema.GroupVersion{Group: r.Group, Version: cmp.Or(op.req.Options.Version, r.Versions[0].Name)}
	handler := managedfields.NewScaleHandler(from.GetManagedFields(), written, paths)
	entries, err := handler.ToSubresource()
	if err != nil {
		return viewManagers{}, err
	}
	to.SetManagedFields(entries)
	return viewManagers{handler}, nil
}

// writeTo sets the managed fields of an object from the managed fields of its view.
func (m viewManagers) writeTo(obj, view runtime.Object) error {
	if m.handler == nil {
		return nil
	}
	from, err := meta.Accessor(view)
	if err != nil {
		return err
	}
	to, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	entries, err := m.handler.ToParent(from.GetManagedFields())
	if err != nil {
		return err
	}
	to.SetManagedFields(entries)
	return nil
}

func managersOf(obj runtime.Object) []metav1.ManagedFieldsEntry {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return accessor.GetManagedFields()
}

// restoreInvalidManagers restores the managed fields that an object had before admission, if
// admission has made them invalid.
func restoreInvalidManagers(ctx context.Context, obj runtime.Object, before []metav1.ManagedFieldsEntry) {
	after := managersOf(obj)
	if len(after) == 0 || len(after) == len(before) && &after[0] == &before[0] {
		return
	}
	if err := managedfields.ValidateManagedFields(after); err != nil {
		accessor, _ := meta.Accessor(obj)
		accessor.SetManagedFields(before)
		AddWarning(ctx, fmt.Sprintf(invalidManagersText, err))
	}
}
