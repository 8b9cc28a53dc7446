package fieldsv1

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxUpdaters is the maximum number of managers with the operation Update. Package managedfields
// merges the oldest of more managers.
const maxUpdaters = 10

// Update returns the managed fields of an object after a write, and false if it does not support
// the objects. before are the managed fields before the write, and writer is the entry of the
// writer without fields: its manager, operation, version, subresource and time. The objects are in
// the version of the writer; their managed fields, apiVersion and kind are ignored. Update does
// not modify its arguments.
func (p *Plan) Update(live, obj runtime.Object, before []metav1.ManagedFieldsEntry, writer metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool) {
	if !supported(before, writer) {
		return nil, false
	}
	w := p.walks.Get().(*walk)
	defer func() {
		w.reset()
		p.walks.Put(w)
	}()
	p.compare(w, live, obj)
	if w.failed {
		return nil, false
	}
	return p.managers(w, before, writer)
}

// compare compares two objects of the kind of the plan.
func (p *Plan) compare(w *walk, live, obj runtime.Object) {
	from, wasUnstructured := live.(*unstructured.Unstructured)
	to, isUnstructured := obj.(*unstructured.Unstructured)
	if wasUnstructured != isUnstructured || isUnstructured != (p.root.goType == nil) {
		w.failed = true
		return
	}
	if isUnstructured {
		w.contents(p, from.Object, to.Object)
		return
	}
	l, r := reflect.ValueOf(live).Elem(), reflect.ValueOf(obj).Elem()
	if l.Type() != p.root.goType || r.Type() != p.root.goType {
		w.failed = true
		return
	}
	w.objects(p, l, r)
}

// managers returns the managed fields after the changes of a walk. Managers whose fields do not
// change share their FieldsV1 with before.
func (p *Plan) managers(w *walk, before []metav1.ManagedFieldsEntry, writer metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool) {
	writes := w.changes.owned()
	after := make([]metav1.ManagedFieldsEntry, 0, len(before)+1)
	for _, entry := range before {
		owns := writes && sameManager(entry, writer)
		old := entry.FieldsV1.GetRawString()
		fields, ok := w.merge(p.root, old, owns)
		if !ok {
			return nil, false
		}
		if string(fields) == "{}" {
			continue
		}
		if owns {
			entry.Time = writer.Time
			writes = false
		}
		if string(fields) != old {
			entry.FieldsV1 = newFields(fields)
		}
		after = append(after, entry)
	}
	if writes {
		fields, _ := w.merge(p.root, "{}", true)
		writer.FieldsType, writer.FieldsV1 = "FieldsV1", newFields(fields)
		after = append(after, writer)
	}
	updaters := 0
	for _, entry := range after {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate {
			updaters++
		}
	}
	if len(after) == 0 {
		after = nil
	}
	slices.SortFunc(after, compareEntries)
	return after, updaters <= maxUpdaters
}

// supported reports whether the managed fields are valid and in the version of the writer.
func supported(entries []metav1.ManagedFieldsEntry, writer metav1.ManagedFieldsEntry) bool {
	if !utf8.ValidString(writer.Manager) {
		return false
	}
	for i, entry := range entries {
		if entry.Operation != metav1.ManagedFieldsOperationApply && entry.Operation != metav1.ManagedFieldsOperationUpdate ||
			entry.APIVersion != writer.APIVersion || entry.FieldsType != "FieldsV1" || entry.FieldsV1 == nil ||
			!utf8.ValidString(entry.Manager) || !utf8.ValidString(entry.Subresource) {
			return false
		}
		if slices.ContainsFunc(entries[:i], func(other metav1.ManagedFieldsEntry) bool { return sameManager(entry, other) }) {
			return false
		}
	}
	return true
}

// sameManager reports whether two entries of one version have the same manager.
func sameManager(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// compareEntries orders managed fields as package managedfields does.
func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		strings.Compare(string(a.Operation), string(b.Operation)),
		cmp.Compare(seconds(a.Time), seconds(b.Time)),
		strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Subresource, b.Subresource),
	)
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}
