package history

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/fields"
	"github.com/miniapi/miniapi/versioner"
)

// BlameKind is the kind of the subresource blame.
var BlameKind = schema.GroupVersionKind{Group: "miniapi.dev", Version: "v1alpha1", Kind: "ObjectBlame"}

// Blame names the write of each field of an object.
type Blame struct {
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// ResourceVersion is the version of the object that has the fields.
	ResourceVersion string `json:"resourceVersion"`
	// Fields are the fields of the object, sorted by path. The metadata that the server sets in
	// every write, or that an update cannot change, is not included.
	Fields []Field `json:"fields"`
}

// Field is a field with the write that gave it its present value.
type Field struct {
	// Path names items of lists by their keys, such as .spec.containers[name="web"].image.
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
	// ResourceVersion is the version that wrote the value. If Older is true, it is the oldest
	// version that etcd keeps of the object, and the value may come from an earlier one.
	ResourceVersion string `json:"resourceVersion"`
	Older           bool   `json:"older,omitempty"`
	// Writer describes the request of the write. It is nil if Older is true, or if the write is
	// not in the journal.
	Writer *Writer `json:"writer,omitempty"`
}

// ReadBlame returns the write of each field of an object. It is a 404 if the object does not exist.
func (r *Reader) ReadBlame(ctx context.Context, store registry.Interface, req registry.ObjectName) (*Blame, error) {
	kept, err := store.History(ctx, req.Namespace, req.Name)
	if err != nil {
		return nil, err
	}
	resource := store.Resource().GroupResource()
	versions := present(kept.Versions)
	if len(versions) == 0 {
		return nil, apierrors.NewNotFound(resource, req.Name)
	}
	last := versions[len(versions)-1]
	paths, err := pathsOf(store, req.Version, last.Entry)
	if err != nil {
		return nil, err
	}
	contents, err := contentsOf(store, req.Version, versions)
	if err != nil {
		return nil, err
	}
	b := &Blame{
		Resource: resource.String(), Namespace: req.Namespace, Name: req.Name,
		ResourceVersion: versioner.Format(last.Revision), Fields: []Field{},
	}
	writers := r.writers(ctx, resource, kept.Versions)
	for _, path := range paths {
		i, value := origin(contents, path)
		field := Field{
			Path: path.String(), ResourceVersion: versioner.Format(versions[i].Revision),
			Older: versions[i].Number != 1 && i == 0,
		}
		if !field.Older {
			field.Writer = writers[versions[i].Revision]
		}
		if field.Value, err = json.Marshal(value); err != nil {
			return nil, err
		}
		b.Fields = append(b.Fields, field)
	}
	return b, nil
}

// present returns the versions since the last deletion.
func present(versions []storage.Version) []storage.Version {
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].Entry == nil {
			return versions[i+1:]
		}
	}
	return versions
}

// pathsOf returns the sorted paths of the fields of an entry, without the kind.
func pathsOf(store registry.Interface, version string, entry *storage.Entry) ([]fieldpath.Path, error) {
	obj, err := entry.Object()
	if err != nil {
		return nil, registry.CorruptError(err)
	}
	set, err := store.Fields(version, obj)
	if err != nil {
		return nil, err
	}
	var paths []fieldpath.Path
	for path := range set.Difference(typeMeta).All() {
		paths = append(paths, path.Copy()) // All reuses the path
	}
	slices.SortFunc(paths, func(a, b fieldpath.Path) int { return strings.Compare(a.String(), b.String()) })
	return paths, nil
}

// typeMeta are the fields that name the kind of an object.
var typeMeta = fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"))

// contentsOf returns the fields of each version.
func contentsOf(store registry.Interface, version string, versions []storage.Version) ([]value.Value, error) {
	contents := make([]value.Value, len(versions))
	for i := range versions {
		obj, err := versions[i].Entry.Object()
		if err != nil {
			return nil, registry.CorruptError(err)
		}
		if contents[i], err = store.Content(version, obj); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// origin returns the value of a field in the last of several contents, and the index of the content
// since which the field has this value.
func origin(contents []value.Value, path fieldpath.Path) (index int, present any) {
	index = len(contents) - 1
	present, _ = fields.Lookup(contents[index], path)
	for ; index > 0; index-- {
		if earlier, found := fields.Lookup(contents[index-1], path); !found || !reflect.DeepEqual(earlier, present) {
			break
		}
	}
	return index, present
}

// Object returns the blame as an object.
func (b *Blame) Object() (runtime.Object, error) { return toObject(b, BlameKind) }
