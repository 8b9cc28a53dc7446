package registry

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// ApplyRequest asks for the fields of an object that a manager wants to own.
type ApplyRequest struct {
	// Subresource that is applied to, "" for the resource itself.
	Subresource string
	// Object has the fields. It names its kind, and belongs to the store
	// afterwards.
	Object *unstructured.Unstructured
	// Source is what Object was read from; it may be left out.
	Source []byte
	// Force takes fields from other managers; without it that is a 409.
	Force   bool
	Options WriteOptions
}

// Apply merges the fields into an object, in the hub version or a view, and
// notes who owns them. It writes nothing: its result is what Propose of an
// Update with Applied returns. current must not be written to, and is nil for
// an object that is not there yet.
func (s *Store) Apply(ctx context.Context, current runtime.Object, req ApplyRequest) (runtime.Object, error) {
	m, err := s.fieldManager(req.Options.Version, req.Subresource)
	if err != nil {
		return nil, err
	}
	if current == nil {
		if current, err = m.versions.New(m.versions.kind); err != nil {
			return nil, err
		}
	}
	if err := s.checkSize(req.Object, req.Options); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	state, known := m.applied.state(current, req)
	if known && m.applied.changesNothing(state) {
		return current.DeepCopyObject(), nil
	}
	applied, err := m.manager.Apply(m.unpruned(current, req), req.Object, req.Options.FieldManager, req.Force)
	if err != nil {
		return nil, m.unapplied(err, current)
	}
	if known && onlyTimesDiffer(applied, current) {
		m.applied.remember(state)
	}
	return applied, nil
}

// unapplied says whose fault it is that an apply failed: the client's, if the
// object that is there is not to blame.
func (m *fieldManager) unapplied(err error, current runtime.Object) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	live, liveErr := m.versions.ConvertToVersion(current, m.versions.kind.GroupVersion())
	if liveErr == nil {
		_, liveErr = m.types.ObjectToTyped(live, typed.AllowDuplicates)
	}
	if liveErr != nil {
		return err
	}
	return apierrors.NewBadRequest(err.Error())
}

// Applies reports whether Apply is supported.
func (s *Store) Applies() bool { return s.catalog.config.Types != nil }

// track notes in the metadata of obj, which belongs to the caller, who changed
// which fields of live; nil is an object that was not there. What obj itself says
// of its managers counts where it makes sense. Where they cannot be told, those
// of live stay.
func (b *base) track(obj, live runtime.Object, opts WriteOptions, subresource string) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	var before []metav1.ManagedFieldsEntry
	if current, err := meta.Accessor(live); err == nil {
		before = current.GetManagedFields()
	}
	if !b.tracks(opts) {
		accessor.SetManagedFields(before)
		return
	}
	m, err := b.fieldManager(opts.Version, subresource)
	if err == nil && live == nil {
		live, err = m.versions.New(m.versions.kind)
	}
	if err == nil {
		_, err = m.manager.Update(live, obj, opts.FieldManager)
	}
	if err != nil {
		accessor.SetManagedFields(before)
	}
}

// tracks tells whether anybody keeps account of field managers.
func (b *base) tracks(opts WriteOptions) bool {
	return b.catalog.config.Types != nil && opts.FieldManager != ""
}

// managerKey names a field manager of a store.
type managerKey struct{ version, subresource string }

// fieldManager keeps account of fields for one version and subresource.
type fieldManager struct {
	manager  *managedfields.FieldManager
	types    managedfields.TypeConverter
	versions *fieldVersions
	owns     fieldpath.Filter // of the version; nil: everything
	applied  *applyMemo
}

// fieldManager returns the one for what is written in a version of the resource,
// "" being the hub. It is made on first use.
func (b *base) fieldManager(version, subresource string) (*fieldManager, error) {
	key := managerKey{version, subresource}
	if known, ok := b.managers.Load(key); ok {
		return known.(*fieldManager), nil
	}
	versions := b.resource.fieldVersions(version, subresource)
	types, err := b.catalog.Types(b.resource, subresource)
	if err != nil {
		return nil, err
	}
	hub := schema.GroupVersion{Group: versions.kind.Group, Version: runtime.APIVersionInternal}
	owns := b.resource.ownable(versions, subresource)
	manager, err := managedfields.NewDefaultFieldManager(types, versions, versions, versions, versions.kind, hub, subresource, owns)
	if err != nil {
		return nil, err
	}
	made, _ := b.managers.LoadOrStore(key, &fieldManager{
		manager: manager, types: types, versions: versions,
		owns:    owns[fieldpath.APIVersion(versions.kind.GroupVersion().String())],
		applied: newApplyMemo(),
	})
	return made.(*fieldManager), nil
}

// Types returns the schema of the objects of a resource, or of a subresource's own kind. It is
// an error if the catalog has no schemas.
func (c *Catalog) Types(r *Resource, subresource string) (managedfields.TypeConverter, error) {
	sub, ok := r.Subresource(subresource)
	ownKind := ok && sub.New != nil
	switch {
	case c.config.Types == nil:
		return nil, errors.New("server-side apply: the catalog has no types")
	case r.Types != nil && !ownKind:
		return r.Types()
	}
	return c.config.Types, nil
}

// ownable says, by version, which fields a write of a subresource can own.
func (r *Resource) ownable(versions *fieldVersions, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	strategy := &r.Strategy.Update
	if sub, ok := r.Subresource(subresource); ok && sub.Update != nil {
		strategy = sub.Update
	}
	if strategy.Owns == nil || versions.body != nil {
		return nil
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, v := range slices.Concat(r.Versions, r.Related) {
		gv := schema.GroupVersion{Group: r.Group, Version: v.Name}
		filters[fieldpath.APIVersion(gv.String())] = strategy.Owns
	}
	return filters
}

// keepTimes takes back the times at which managers were last seen, if nothing
// else of an object has changed, so that a write which changes nothing is none.
func keepTimes(obj, old runtime.Object) {
	before := managersOf(old)
	if slices.EqualFunc(managersOf(obj), before, sameManager) || !onlyTimesDiffer(obj, old) {
		return
	}
	accessor, err := meta.Accessor(obj)
	if err == nil {
		accessor.SetManagedFields(before)
	}
}

// onlyTimesDiffer tells whether an object is what it was, but for its version
// and the times in managedFields.
func onlyTimesDiffer(obj, old runtime.Object) bool {
	if !slices.EqualFunc(managersOf(obj), managersOf(old), sameButTime) {
		return false
	}
	now, before := withoutManagers(obj), withoutManagers(old)
	if copyVersion(now, before) != nil {
		return false
	}
	// What is the same in memory is the same, and that is found out faster.
	return reflect.DeepEqual(now, before) || equality.Semantic.DeepEqualWithNilDifferentFromEmpty(now, before)
}

func sameManager(a, b metav1.ManagedFieldsEntry) bool {
	return a.Time.Equal(b.Time) && sameButTime(a, b)
}

func sameButTime(a, b metav1.ManagedFieldsEntry) bool {
	a.Time, b.Time = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}
