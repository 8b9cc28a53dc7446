package snapshots

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/miniapi/miniapi/registry"
	openapi "github.com/miniapi/miniapi/testapi/schema"
)

var (
	kind          = schema.GroupVersionKind{Group: "miniapi.dev", Version: "v1alpha1", Kind: "Snapshot"}
	groupResource = schema.GroupResource{Group: kind.Group, Resource: "snapshots"}
)

const description = "Snapshot is the state of all objects of the server at one revision. Its creation takes the snapshot, a POST to the subresource restore restores it, its deletion frees the memory."

// content is the content of the objects, beside the metadata.
type content struct {
	Status struct {
		Revision int64 `json:"revision" doc:"The resourceVersion at which the snapshot was taken."`
		Objects  int64 `json:"objects" doc:"The number of objects in the snapshot."`
		Bytes    int64 `json:"bytes" doc:"The size of the objects in bytes."`
	} `json:"status" doc:"The content of the snapshot."`
}

var contentType = reflect.TypeFor[content]()

// Resource returns the resource of the snapshots of a set.
func Resource(s *Set) *registry.Resource {
	model := openapi.OfKind(kind, description, contentType)
	return &registry.Resource{
		Group: kind.Group, Name: groupResource.Resource, Singular: "snapshot", Kind: kind.Kind,
		Verbs:        []string{"create", "delete", "deletecollection", "get", "list", "watch"},
		Custom:       true, // objects without a Go type for clients, in JSON and YAML
		StoragePath:  kind.Group + "/" + groupResource.Resource,
		Codec:        openapi.Codec{},
		Storage:      objects{s.store, s},
		Strategy:     strategy(),
		Columns:      registry.Columns{Definitions: columns(), Row: row},
		Types:        sync.OnceValues(func() (managedfields.TypeConverter, error) { return openapi.Types(kind, model) }),
		Subresources: []registry.Subresource{restoreSubresource(s)},
		Versions: []registry.Version{{
			Name:    kind.Version,
			New:     newObject,
			NewList: func() runtime.Object { return &unstructured.UnstructuredList{} },
			Prune:   func(obj runtime.Object) ([]string, error) { return openapi.PruneObject(obj, contentType) },
			Model:   model,
		}},
	}
}

func newObject() runtime.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// strategy sets the status and removes finalizers: objects are not updated, so no client could
// remove them.
func strategy() registry.Strategy {
	return registry.Strategy{
		Create: registry.CreateStrategy{
			ValidateName: validation.NameIsDNSSubdomain,
			Prepare: func(_ context.Context, obj runtime.Object) {
				u := obj.(*unstructured.Unstructured)
				u.Object["status"] = map[string]any{"revision": int64(0), "objects": int64(0), "bytes": int64(0)}
				u.SetFinalizers(nil)
			},
		},
		Delete: registry.DeleteStrategy{NoDependents: true},
	}
}

// restoreSubresource restores a snapshot by a POST. The body is a Snapshot or empty; the answer is
// the snapshot that was restored.
func restoreSubresource(s *Set) registry.Subresource {
	return registry.Subresource{
		Name: "restore", Verbs: []string{"create"}, Kind: kind, New: newObject,
		Create: func(ctx context.Context, store *registry.Store, req registry.ActionRequest) (runtime.Object, error) {
			entry, err := store.Get(ctx, "", req.Name, "")
			if err != nil {
				return nil, err
			}
			obj, err := entry.Object()
			if err != nil {
				return nil, err
			}
			if err := req.Validate(); err != nil || req.Options.DryRun {
				return obj, err
			}
			return obj, s.restore(ctx, obj.(*unstructured.Unstructured))
		},
	}
}

func columns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "The name of the snapshot."},
		{Name: "Revision", Type: "integer", Description: "The resourceVersion at which the snapshot was taken."},
		{Name: "Objects", Type: "integer", Description: "The number of objects in the snapshot."},
		{Name: "Bytes", Type: "integer", Description: "The size of the objects."},
		{Name: "Age", Type: "string", Description: "The time since the snapshot was taken."},
	}
}

func row(obj runtime.Object) ([]any, []metav1.TableRowCondition) {
	u := obj.(*unstructured.Unstructured)
	number := func(name string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, "status", name)
		return n
	}
	return []any{u.GetName(), number("revision"), number("objects"), number("bytes"), registry.Elapsed{Since: u.GetCreationTimestamp()}}, nil
}
