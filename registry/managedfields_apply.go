package registry

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/registry/fieldsv1"
)

// lastAppliedAnnotation contains the configuration of the last client-side apply. A server-side
// apply by kubectl updates it.
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// apply returns an object after an apply, with its managed fields. The plan computes them where it
// supports the apply, and package managedfields elsewhere.
func (m *fieldManager) apply(current runtime.Object, req ApplyRequest, now time.Time) (runtime.Object, error) {
	if applied, ok := m.applyDirectly(current, req, now); ok {
		return applied, nil
	}
	return m.manager.Apply(current, req.Object, req.Options.FieldManager, req.Force)
}

// applyDirectly returns an object after an apply, and false for an apply that the plan does not
// support: one that may conflict, that leaves out fields which the manager applied before, or that
// sets the annotation of client-side applies, and an invalid one. It does not support null or an
// empty map, repeated where the object has fields, either: package managedfields may count such an
// apply as a change and renew the time of the manager.
func (m *fieldManager) applyDirectly(current runtime.Object, req ApplyRequest, now time.Time) (runtime.Object, bool) {
	application, ok := m.application(current, req, now)
	if !ok {
		return nil, false
	}
	before, after, err := m.merge(current, req.Object)
	if err != nil {
		return nil, false
	}
	unchanged := value.EqualsUsing(value.NewFreelistAllocator(), before.AsValue(), after.AsValue())
	if unchanged {
		application.Writer.Time = application.Former().Time
	}
	repeated, shared := application.Former().FieldsV1 != nil, application.HasOthers()
	var live map[string]any
	if repeated || shared {
		live, _ = before.AsValue().Unstructured().(map[string]any)
	}
	if repeated && m.configurations().Empties(req.Object.Object, live) {
		return nil, false
	}
	if shared {
		application.Live = live
		application.Merged, _ = after.AsValue().Unstructured().(map[string]any)
	}
	entries, ok := m.configurations().Apply(application)
	if !ok {
		return nil, false
	}
	applied := current
	if unchanged {
		applied = current.DeepCopyObject()
	} else if applied, err = m.complete(after); err != nil {
		return nil, false
	}
	accessor, err := meta.Accessor(applied)
	if err != nil || req.Options.FieldManager == "kubectl" && accessor.GetAnnotations()[lastAppliedAnnotation] != "" {
		return nil, false
	}
	accessor.SetManagedFields(entries)
	return applied, true
}

// application returns the managed fields of an apply, and false if the plan does not support them.
func (m *fieldManager) application(current runtime.Object, req ApplyRequest, now time.Time) (fieldsv1.Application, bool) {
	application := fieldsv1.Application{Before: managersOf(current), Force: req.Force}
	plan := m.configurations()
	if plan == nil || req.Options.FieldManager == "" || req.Object.GroupVersionKind() != m.versions.kind ||
		req.Object.GetManagedFields() != nil || len(application.Before) == 0 && !m.isNew(current) {
		return application, false
	}
	owned, ok := plan.Applied(req.Object.Object)
	application.Writer = metav1.ManagedFieldsEntry{
		Manager: req.Options.FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: m.versions.kind.GroupVersion().String(), Subresource: m.subresource,
		Time: &metav1.Time{Time: now.UTC()}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned),
	}
	return application, ok && includes(owned, application.Former().FieldsV1)
}

// isNew reports whether an object is the zero object that an apply creates.
func (m *fieldManager) isNew(obj runtime.Object) bool {
	zero, err := m.versions.New(m.versions.kind)
	return err == nil && reflect.DeepEqual(obj, zero)
}

// includes reports whether an apply owns all fields that its manager owned before, nil for none.
// Otherwise the apply removes fields.
func includes(owned string, former *metav1.FieldsV1) bool {
	if former == nil || former.GetRawString() == owned {
		return true
	}
	var before, now fieldpath.Set
	return before.FromJSON(former.GetRawReader()) == nil && now.FromJSON(metav1.NewFieldsV1(owned).GetRawReader()) == nil &&
		before.Difference(&now).Empty()
}

// merge returns an object of the hub version before and after the merge of a configuration, in the
// version of the field manager.
func (m *fieldManager) merge(current runtime.Object, config *unstructured.Unstructured) (before, after *typed.TypedValue, err error) {
	live, err := m.versions.ConvertToVersion(current, m.versions.kind.GroupVersion())
	if err != nil {
		return nil, nil, err
	}
	if before, err = m.types.ObjectToTyped(live, typed.AllowDuplicates); err != nil {
		return nil, nil, err
	}
	applied, err := m.types.ObjectToTyped(config)
	if err != nil {
		return nil, nil, err
	}
	after, err = before.Merge(applied)
	return before, after, err
}

// complete returns the object of a merged value in the hub version, with defaults.
func (m *fieldManager) complete(merged *typed.TypedValue) (runtime.Object, error) {
	obj, err := m.types.TypedToObject(merged)
	if err != nil {
		return nil, err
	}
	kind := m.versions.kind.GroupVersion()
	versioned, err := m.versions.ConvertToVersion(obj, kind)
	if err != nil {
		return nil, err
	}
	m.versions.Default(versioned)
	return m.versions.ConvertToVersion(versioned, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
}
