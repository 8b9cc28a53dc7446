package registry

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// SetNames replaces the generator of names from a generateName.
func (s *Store) SetNames(names func(base string) string) { s.names = names }

// SetNow replaces the clock.
func (s *Store) SetNow(now func() time.Time) { s.now = now }

// ManagedFields returns the managed fields of obj after a change of live, nil for a new object, as
// package managedfields computes them and as the plan does. The plan may not support the objects.
func (s *Store) ManagedFields(live, obj runtime.Object, manager, subresource string) (library, direct []metav1.ManagedFieldsEntry, supported bool, err error) {
	m, err := s.fieldManager("", subresource)
	if err != nil {
		return nil, nil, false, err
	}
	if live == nil {
		if live, err = m.versions.New(m.versions.kind); err != nil {
			return nil, nil, false, err
		}
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, false, err
	}
	direct, supported = m.updateDirectly(live, obj, manager, time.Now())
	if _, err = m.manager.Update(live, obj, manager); err != nil {
		return nil, direct, supported, err
	}
	return accessor.GetManagedFields(), direct, supported, nil
}

// LibraryChangedFields is ChangedFields by structured-merge-diff, and reports whether the plan
// supports the objects.
func (s *Store) LibraryChangedFields(from, to runtime.Object) (set *fieldpath.Set, supported bool, err error) {
	m, err := s.fieldManager("", "")
	if err != nil {
		return nil, false, err
	}
	if plan := m.allFields(); plan != nil {
		_, supported = plan.Changed(from, to)
	}
	set, err = m.changedFields(from, to)
	return set, supported, err
}

// ApplyBoth returns an object after an apply as package managedfields computes it, and as the plan
// does, which may not support it.
func (s *Store) ApplyBoth(current runtime.Object, req ApplyRequest, now time.Time) (library, direct runtime.Object, supported bool, err error) {
	m, err := s.fieldManager("", req.Subresource)
	if err != nil {
		return nil, nil, false, err
	}
	if current == nil {
		if current, err = m.versions.New(m.versions.kind); err != nil {
			return nil, nil, false, err
		}
	}
	copied := req
	copied.Object = req.Object.DeepCopy()
	direct, supported = m.applyDirectly(current, copied, now)
	library, err = m.manager.Apply(current, req.Object, req.Options.FieldManager, req.Force)
	return library, direct, supported, err
}

// ApplyOnly returns an object after an apply, with package managedfields only if direct is false.
func (s *Store) ApplyOnly(current runtime.Object, req ApplyRequest, direct bool) (runtime.Object, error) {
	m, err := s.fieldManager("", "")
	if err == nil && current == nil {
		current, err = m.versions.New(m.versions.kind)
	}
	switch {
	case err != nil:
		return nil, err
	case direct:
		return m.apply(current, req, time.Now())
	}
	return m.manager.Apply(current, req.Object, req.Options.FieldManager, req.Force)
}

// UpdateManagedFields sets the managed fields of obj after a change of live by a manager, with
// package managedfields only if direct is false.
func (s *Store) UpdateManagedFields(live, obj runtime.Object, manager string, direct bool) error {
	m, err := s.fieldManager("", "")
	if err == nil && live == nil {
		live, err = m.versions.New(m.versions.kind)
	}
	switch {
	case err != nil:
	case direct:
		err = m.update(live, obj, manager, time.Now())
	default:
		_, err = m.manager.Update(live, obj, manager)
	}
	return err
}
