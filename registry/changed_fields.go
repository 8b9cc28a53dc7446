package registry

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// systemFields are fields that the server sets in every write, or that an update cannot change.
var systemFields = fieldpath.NewSet(
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
)

// ChangedFields returns the fields in which two states of an object differ, without the metadata
// that the server sets. Items of lists are named by their keys, as in the conflicts of server-side
// apply. The states are in the hub version and are not modified; the fields are in a version, ""
// for the first one.
func (b *base) ChangedFields(version string, from, to runtime.Object) (*fieldpath.Set, error) {
	m, err := b.fieldManager(version, "")
	if err != nil {
		return nil, err
	}
	if plan := m.allFields(); plan != nil {
		if changed, ok := plan.Changed(from, to); ok {
			return changed.RecursiveDifference(systemFields), nil
		}
	}
	return m.changedFields(from, to)
}

// changedFields is ChangedFields for all objects. Most of them are supported by the plan, which is
// faster.
func (m *fieldManager) changedFields(from, to runtime.Object) (*fieldpath.Set, error) {
	before, err := m.typed(from)
	if err != nil {
		return nil, err
	}
	after, err := m.typed(to)
	if err != nil {
		return nil, err
	}
	changes, err := before.Compare(after)
	if err != nil {
		return nil, err
	}
	changed := changes.Added.Union(changes.Modified).Union(changes.Removed)
	return changed.Leaves().RecursiveDifference(systemFields), nil
}

// Fields returns the fields of an object of the hub version, in a version, "" for the first one.
// The metadata that the server sets is not included.
func (b *base) Fields(version string, obj runtime.Object) (*fieldpath.Set, error) {
	m, err := b.fieldManager(version, "")
	if err != nil {
		return nil, err
	}
	value, err := m.typed(obj)
	if err != nil {
		return nil, err
	}
	set, err := value.ToFieldSet()
	if err != nil {
		return nil, err
	}
	return set.Leaves().RecursiveDifference(systemFields), nil
}

// typed returns an object of the hub version, in the version of the field manager.
func (m *fieldManager) typed(obj runtime.Object) (*typed.TypedValue, error) {
	converted, err := m.versions.ConvertToVersion(obj, m.versions.kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	return m.types.ObjectToTyped(converted, typed.AllowDuplicates)
}

// Writable returns the fields of a set that a write of a subresource, "" for the resource itself,
// can change.
func (s *Store) Writable(version, subresource string, set *fieldpath.Set) *fieldpath.Set {
	m, err := s.fieldManager(version, subresource)
	if err != nil || m.owns == nil {
		return set
	}
	return m.owns.Filter(set)
}

// Content returns the fields of an object of the hub version, in a version, "" for the first one.
// They share memory with the object.
func (b *base) Content(version string, obj runtime.Object) (value.Value, error) {
	m, err := b.fieldManager(version, "")
	if err != nil {
		return nil, err
	}
	converted, err := m.versions.ConvertToVersion(obj, m.versions.kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	if u, ok := converted.(runtime.Unstructured); ok {
		return value.NewValueInterface(u.UnstructuredContent()), nil
	}
	return value.NewValueReflect(converted)
}
