package registry

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/miniapi/miniapi/registry/fieldsv1"
)

// newFieldsPlan returns the plan of the objects of a field manager, of their Go type or
// unstructured, with a filter, nil for all fields. The plan is nil if the hub version is not the
// version of the manager or if the manager is not supported.
func (m *fieldManager) newFieldsPlan(ofGoType bool, owns fieldpath.Filter) *fieldsv1.Plan {
	version, err := m.versions.version(m.versions.kind.GroupVersion())
	if err != nil || version.FromHub != nil || m.versions.body != nil {
		return nil
	}
	obj, err := m.versions.New(m.versions.kind)
	if err != nil {
		return nil
	}
	empty, err := m.types.ObjectToTyped(obj, typed.AllowDuplicates)
	if err != nil {
		return nil
	}
	config := fieldsv1.Config{Schema: empty.Schema(), Type: empty.TypeRef(), Owns: owns}
	if _, ok := obj.(*unstructured.Unstructured); !ok && ofGoType {
		config.GoType = reflect.TypeOf(obj).Elem()
	}
	plan, ok := fieldsv1.New(config)
	if !ok {
		return nil
	}
	return plan
}

// update sets the managed fields of obj after a change of live, with the plan where it supports
// the objects and with package managedfields elsewhere.
func (m *fieldManager) update(live, obj runtime.Object, manager string, now time.Time) error {
	if entries, ok := m.updateDirectly(live, obj, manager, now); ok {
		accessor, err := meta.Accessor(obj)
		if err == nil {
			accessor.SetManagedFields(entries)
		}
		return err
	}
	_, err := m.manager.Update(live, obj, manager)
	return err
}

// updateDirectly returns the managed fields of obj after a change of live, and false if the plan
// does not support the objects.
func (m *fieldManager) updateDirectly(live, obj runtime.Object, manager string, now time.Time) ([]metav1.ManagedFieldsEntry, bool) {
	from, err := meta.Accessor(live)
	if m.plan == nil || err != nil {
		return nil, false
	}
	to, err := meta.Accessor(obj)
	if err != nil {
		return nil, false
	}
	before := to.GetManagedFields()
	if m.subresource != "" || before == nil {
		before = from.GetManagedFields()
	}
	// An object without managers is not tracked, and empty managed fields reset the managers.
	if len(before) == 0 && (from.GetUID() != "" || before != nil) {
		return nil, false
	}
	return m.plan.Update(live, obj, before, metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
		APIVersion:  m.versions.kind.GroupVersion().String(),
		Subresource: m.subresource, Time: &metav1.Time{Time: now.UTC()},
	})
}
