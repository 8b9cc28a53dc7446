package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/miniapi/miniapi/storage"
)

// Interface serves the requests for one resource. *Store implements it for stored objects; the
// implementation for virtual resources computes them. An unsupported verb is a 405. Implementations
// are safe for concurrent use.
type Interface interface {
	Reader
	GetSubresource(ctx context.Context, namespace, name, subresource string) (*storage.Entry, error)
	Create(ctx context.Context, req CreateRequest) (Result, error)
	CreateSubresource(ctx context.Context, subresource string, req CreateRequest) (*storage.Entry, error)
	Connect(ctx context.Context, subresource string, req ConnectRequest) error
	Update(ctx context.Context, req UpdateRequest) (Result, error)
	// Applies reports whether server-side apply is supported.
	Applies() bool
	Apply(ctx context.Context, current runtime.Object, req ApplyRequest) (runtime.Object, error)
	Delete(ctx context.Context, req DeleteRequest) (DeleteResult, error)
	// GetExact and History read past versions. ChangedFields, Fields and Content read fields.
	GetExact(ctx context.Context, namespace, name string, revision int64) (*storage.Entry, error)
	History(ctx context.Context, namespace, name string) (*storage.History, error)
	ChangedFields(version string, from, to runtime.Object) (*fieldpath.Set, error)
	Fields(version string, obj runtime.Object) (*fieldpath.Set, error)
	Content(version string, obj runtime.Object) (value.Value, error)
	UnsafeDelete(ctx context.Context, req DeleteRequest) error
	DeleteCollection(ctx context.Context, req DeleteRequest, list ListRequest) (*storage.Page, error)
}

// Reader reads the objects of one resource. See the methods of Store.
type Reader interface {
	Resource() *Resource
	Get(ctx context.Context, namespace, name, resourceVersion string) (*storage.Entry, error)
	List(ctx context.Context, req ListRequest) (*storage.Page, error)
	Watch(ctx context.Context, req ListRequest) (storage.Watcher, error)
}

var (
	_ Interface = (*Store)(nil)
	_ Interface = (*virtualStore)(nil)
)
