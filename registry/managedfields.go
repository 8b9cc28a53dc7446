package registry

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/miniapi/miniapi/internal/semantic"
	"github.com/miniapi/miniapi/registry/fieldsv1"
)

// ApplyRequest is a server-side apply of the fields that a manager owns.
type ApplyRequest struct {
	// Subresource is the applied subresource, "" for the resource itself.
	Subresource string
	// Object has the applied fields and names its kind. The store may modify it.
	Object *unstructured.Unstructured
	// Source is the body that Object was decoded from. It is optional.
	Source []byte
	// Force takes the ownership of fields from other managers. Without it a conflict is a 409.
	Force   bool
	Options WriteOptions
}

// Apply merges the applied fields into an object, in the hub version or a view, and sets the
// field managers. It writes nothing: its result is returned by Propose of an Update with Applied.
// current must not be modified, and is nil for a new object.
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
	if err := s.checkSize(req.Object); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	state, known := m.applied.state(current, req)
	if known && m.applied.changesNothing(state) {
		return current.DeepCopyObject(), nil
	}
	applied, err := m.apply(current, req, s.catalog.Now())
	if err != nil {
		return nil, m.applyError(err, current)
	}
	if before, err := meta.Accessor(current); err == nil {
		s.catalog.stampManagers(applied, before.GetManagedFields())
	}
	if known && onlyTimesDiffer(applied, current) {
		m.applied.remember(state)
	}
	return applied, nil
}

// applyError returns a bad request for an error that the applied object causes, and the error
// itself if the stored object causes it.
func (m *fieldManager) applyError(err error, current runtime.Object) error {
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

// track sets the managed fields of obj after a change of live, which is nil for a new object.
// Valid managed fields in obj are used. If they cannot be computed, obj gets the managed fields of
// live.
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
		live, err = m.versions.empty()
	}
	if err == nil {
		err = m.update(live, obj, opts.FieldManager, b.catalog.Now())
	}
	if err != nil {
		accessor.SetManagedFields(before)
		return
	}
	b.catalog.stampManagers(obj, before)
}

// tracks reports whether managed fields are computed for a write.
func (b *base) tracks(opts WriteOptions) bool {
	return b.catalog.config.Types != nil && opts.FieldManager != ""
}

// managerKey identifies a field manager of a resource.
type managerKey struct{ version, subresource string }

// fieldManager computes managed fields for one version and subresource.
type fieldManager struct {
	manager     *managedfields.FieldManager
	types       managedfields.TypeConverter
	versions    *fieldVersions
	subresource string
	owns        fieldpath.Filter // of the version; nil: all fields
	applied     *applyMemo
	plan        *fieldsv1.Plan // nil: package managedfields computes all updates
	// allFields returns the plan of all fields, also of those that the manager cannot own.
	allFields func() *fieldsv1.Plan
	// configurations returns the plan of the configurations of applies, which are unstructured.
	configurations func() *fieldsv1.Plan
}

// fieldManager returns the field manager of a version, "" for the hub, and a subresource. It is
// created on first use.
func (b *base) fieldManager(version, subresource string) (*fieldManager, error) {
	key := managerKey{version, subresource}
	if known, ok := b.managers.Load(key); ok {
		return known.(*fieldManager), nil
	}
	versions := b.fieldVersions(version, subresource)
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
	m := &fieldManager{
		manager: manager, types: types, versions: versions, subresource: subresource,
		owns:    owns[fieldpath.APIVersion(versions.kind.GroupVersion().String())],
		applied: newApplyMemo(),
	}
	m.plan = m.newFieldsPlan(true, m.owns)
	m.allFields = sync.OnceValue(func() *fieldsv1.Plan { return m.newFieldsPlan(true, nil) })
	m.configurations = sync.OnceValue(func() *fieldsv1.Plan { return m.newFieldsPlan(false, m.owns) })
	made, _ := b.managers.LoadOrStore(key, m)
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

// ownable returns, by version, the filter of the fields that a write of a subresource can own.
func (r *Resource) ownable(versions *fieldVersions, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	strategy := &r.Strategy.Update
	if sub, ok := r.Subresource(subresource); ok && sub.Update != nil {
		strategy = sub.Update
	}
	if strategy.Owns == nil || versions.body != nil {
		return nil
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, v := range r.allVersions() {
		gv := schema.GroupVersion{Group: r.Group, Version: v.Name}
		filters[fieldpath.APIVersion(gv.String())] = strategy.Owns
	}
	return filters
}

// restoreTimes restores the times in managedFields if the object has not changed otherwise, so
// that an update without changes writes nothing.
func restoreTimes(obj, old runtime.Object) {
	before := managersOf(old)
	if slices.EqualFunc(managersOf(obj), before, sameManager) || !onlyTimesDiffer(obj, old) {
		return
	}
	accessor, err := meta.Accessor(obj)
	if err == nil {
		accessor.SetManagedFields(before)
	}
}

// onlyTimesDiffer reports whether two objects differ at most in resourceVersion and the times in
// managedFields.
func onlyTimesDiffer(obj, old runtime.Object) bool {
	return slices.EqualFunc(managersOf(obj), managersOf(old), sameButTime) && equalWithoutManagers(obj, old)
}

// equalWithoutManagers reports whether two objects differ at most in resourceVersion and
// managedFields. Of objects with a Go type it copies the metadata only.
func equalWithoutManagers(obj, old runtime.Object) bool {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		now, before := withoutManagers(obj), withoutManagers(old)
		return copyVersion(now, before) == nil && semantic.EqualAndNil(now, before)
	}
	a, b := reflect.ValueOf(obj).Elem(), reflect.ValueOf(old).Elem()
	if a.Type() != b.Type() {
		return false
	}
	for i := range a.NumField() {
		now, before := a.Field(i).Addr().Interface(), b.Field(i).Addr().Interface()
		if metadata, ok := now.(*metav1.ObjectMeta); ok {
			now, before = withoutRecords(*metadata), withoutRecords(*before.(*metav1.ObjectMeta))
		}
		if !semantic.EqualAndNil(now, before) {
			return false
		}
	}
	return true
}

// withoutRecords returns metadata without the fields that a write sets by itself.
func withoutRecords(metadata metav1.ObjectMeta) *metav1.ObjectMeta {
	metadata.ResourceVersion, metadata.ManagedFields = "", nil
	return &metadata
}

func sameManager(a, b metav1.ManagedFieldsEntry) bool {
	return a.Time.Equal(b.Time) && sameButTime(a, b)
}

func sameButTime(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource &&
		a.APIVersion == b.APIVersion && a.FieldsType == b.FieldsType && sameFields(a.FieldsV1, b.FieldsV1)
}

func sameFields(a, b *metav1.FieldsV1) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.Equal(*b)
}
