package registry

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// withoutPruning returns the current object for an apply that includes all fields that its
// manager applied before. Such an apply removes no field, so the set of previously applied fields
// is emptied: the search for fields to remove is most of the work of an apply, and the result is
// the same. Otherwise it returns the object unchanged.
func (m *fieldManager) withoutPruning(current runtime.Object, req ApplyRequest) runtime.Object {
	accessor, err := meta.Accessor(current)
	if err != nil {
		return current
	}
	entries := accessor.GetManagedFields()
	index := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation == metav1.ManagedFieldsOperationApply && e.Manager == req.Options.FieldManager &&
			e.Subresource == req.Subresource && e.APIVersion == m.versions.kind.GroupVersion().String()
	})
	if index < 0 || entries[index].FieldsV1 == nil || !m.coversAll(entries[index].FieldsV1, req) {
		return current
	}
	entries = slices.Clone(entries)
	entries[index].FieldsV1 = metav1.NewFieldsV1("{}")
	shown := withoutManagers(current)
	if accessor, err = meta.Accessor(shown); err != nil {
		return current
	}
	accessor.SetManagedFields(entries)
	return shown
}

// coversAll reports whether the applied object has all fields that the manager owns.
func (m *fieldManager) coversAll(owned *metav1.FieldsV1, req ApplyRequest) bool {
	var before fieldpath.Set
	if err := before.FromJSON(owned.GetRawReader()); err != nil {
		return false
	}
	config, err := m.types.ObjectToTyped(req.Object)
	if err != nil {
		return false
	}
	now, err := config.ToFieldSet()
	if err != nil {
		return false
	}
	if m.owns != nil {
		now = m.owns.Filter(now)
	}
	return before.Difference(now).Empty()
}
