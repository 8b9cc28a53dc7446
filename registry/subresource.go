package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// CreateSubresource executes a POST to a subresource, such as a binding, and returns the object
// of the response, which may be a Status.
func (s *Store) CreateSubresource(ctx context.Context, subresource string, req CreateRequest) (*storage.Entry, error) {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Create == nil {
		return nil, s.unsupported("create")
	}
	if err := s.checkWritable(req.Name); err != nil {
		return nil, err
	}
	if accessor, err := meta.Accessor(req.Object); err == nil {
		if err := s.resource.CheckNamespace(accessor, req.Namespace); err != nil {
			return nil, err
		}
	}
	s.track(req.Object, nil, req.Options, subresource)
	return s.admitAction(ctx, createAttributes(req, subresource), func(ctx context.Context, obj runtime.Object, validate func() error) (runtime.Object, error) {
		req.Object = obj
		return sub.Create(ctx, s, ActionRequest{CreateRequest: req, Validate: validate})
	})
}

// Connect opens a connection through a subresource, such as exec or proxy.
func (s *Store) Connect(ctx context.Context, subresource string, req ConnectRequest) error {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Connect == nil {
		return s.unsupported("connect")
	}
	if sub.New == nil { // it is a read, such as log
		return sub.Connect(ctx, s, req)
	}
	attributes := &Attributes{
		Operation:   OperationConnect,
		Subresource: subresource,
		Namespace:   req.Namespace,
		Name:        req.Name,
		Object:      sub.connectOptions(req),
	}
	_, err := s.admitAction(ctx, attributes, func(ctx context.Context, obj runtime.Object, validate func() error) (runtime.Object, error) {
		if err := validate(); err != nil {
			return nil, err
		}
		return obj, sub.Connect(ctx, s, req)
	})
	return err
}
