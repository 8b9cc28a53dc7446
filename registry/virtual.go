package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// virtualStore serves a resource whose objects are computed and not stored.
type virtualStore struct {
	base
	virtual *Virtual
}

func newVirtualStore(r *Resource, c *Catalog) *virtualStore {
	s := &virtualStore{virtual: r.Virtual}
	s.resource, s.catalog = r, c
	return s
}

// Get implements Reader. It ignores the namespace and the resourceVersion.
func (s *virtualStore) Get(ctx context.Context, _, name, _ string) (*storage.Entry, error) {
	if s.virtual.Feed != nil {
		return s.feedEntry(name)
	}
	if s.virtual.Get == nil {
		return nil, s.unsupported("get")
	}
	obj, err := s.virtual.Get(ctx, s.catalog, name)
	if err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}

// List implements Reader. The page has a revision only if the resource has a feed.
func (s *virtualStore) List(ctx context.Context, req ListRequest) (*storage.Page, error) {
	if s.virtual.Feed != nil {
		return s.listFeed(ctx, req)
	}
	if s.virtual.List == nil {
		return nil, s.unsupported("list")
	}
	objs, err := s.virtual.List(ctx, s.catalog)
	if err != nil {
		return nil, err
	}
	predicate := s.predicate(req)
	page := &storage.Page{}
	for _, obj := range objs {
		ok, err := predicate.Matches(obj)
		if err != nil {
			return nil, err
		}
		if ok {
			page.Entries = append(page.Entries, computedEntry(obj))
		}
	}
	return page, nil
}

// Create implements Interface. The object of the result may be a Status.
func (s *virtualStore) Create(ctx context.Context, req CreateRequest) (Result, error) {
	if err := s.sanitize(ctx, req); err != nil {
		return Result{}, err
	}
	if s.virtual.Create == nil {
		return Result{}, s.unsupported("create")
	}
	entry, err := s.admitAction(ctx, createAttributes(req, ""), func(ctx context.Context, obj runtime.Object, validate func() error) (runtime.Object, error) {
		req.Object = obj
		return s.virtual.Create(ctx, s.catalog, ActionRequest{CreateRequest: req, Validate: validate})
	})
	if err != nil {
		return Result{}, err
	}
	return Result{Entry: entry, Created: true}, nil
}

// GetSubresource implements Interface.
func (s *virtualStore) GetSubresource(context.Context, string, string, string) (*storage.Entry, error) {
	return nil, s.unsupported("get")
}

// Watch implements Reader.
func (s *virtualStore) Watch(ctx context.Context, req ListRequest) (storage.Watcher, error) {
	if s.virtual.Feed != nil {
		return s.watchFeed(ctx, req)
	}
	return nil, s.unsupported("watch")
}

// CreateSubresource implements Interface.
func (s *virtualStore) CreateSubresource(context.Context, string, CreateRequest) (*storage.Entry, error) {
	return nil, s.unsupported("create")
}

// Connect implements Interface.
func (s *virtualStore) Connect(context.Context, string, ConnectRequest) error {
	return s.unsupported("connect")
}

// Update implements Interface.
func (s *virtualStore) Update(context.Context, UpdateRequest) (Result, error) {
	return Result{}, s.unsupported("update")
}

// Applies implements Interface.
func (s *virtualStore) Applies() bool { return false }

// Apply implements Interface.
func (s *virtualStore) Apply(context.Context, runtime.Object, ApplyRequest) (runtime.Object, error) {
	return nil, s.unsupported("patch")
}

// Delete implements Interface.
func (s *virtualStore) Delete(context.Context, DeleteRequest) (DeleteResult, error) {
	return DeleteResult{}, s.unsupported("delete")
}

// UnsafeDelete implements Interface.
func (s *virtualStore) UnsafeDelete(context.Context, DeleteRequest) error {
	return s.unsupported("delete")
}

// DeleteCollection implements Interface.
func (s *virtualStore) DeleteCollection(context.Context, DeleteRequest, ListRequest) (*storage.Page, error) {
	return nil, s.unsupported("deletecollection")
}

// GetExact implements Interface.
func (s *virtualStore) GetExact(context.Context, string, string, int64) (*storage.Entry, error) {
	return nil, s.unsupported("get")
}

// History implements Interface.
func (s *virtualStore) History(context.Context, string, string) (*storage.History, error) {
	return nil, s.unsupported("get")
}
