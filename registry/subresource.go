package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/miniapi/miniapi/storage"
)

// CreateSubresource performs a POST to a subresource, such as a binding, and returns the
// object of the response, which may be a Status.
func (s *Store) CreateSubresource(ctx context.Context, subresource string, req CreateRequest) (*storage.Entry, error) {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Create == nil {
		return nil, s.unsupported("create")
	}
	if accessor, err := meta.Accessor(req.Object); err == nil {
		if err := s.CheckNamespace(accessor, req.Namespace); err != nil {
			return nil, err
		}
	}
	s.track(req.Object, nil, req.Options, subresource)
	attributes := s.createAttributes(req, subresource)
	if err := s.catalog.config.Admission.Admit(ctx, attributes); err != nil {
		return nil, err
	}
	req.Object = attributes.Object
	tx := s.begin()
	defer tx.rollback(ctx)
	if err := s.validateAdmission(ctx, tx, attributes); err != nil {
		return nil, err
	}
	obj, err := sub.Create(withAdmitted(ctx), s, req)
	tx.end(ctx, err, req.Options.DryRun)
	if err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}

// Connect opens what an object stands for. It returns why that cannot be.
func (s *Store) Connect(ctx context.Context, subresource string, req ConnectRequest) error {
	sub, ok := s.resource.Subresource(subresource)
	if !ok || sub.Connect == nil {
		return s.unsupported("connect")
	}
	if sub.New == nil { // it is a read by another name
		return sub.Connect(ctx, s, req)
	}
	attributes := &Attributes{
		Operation:   OperationConnect,
		Store:       s,
		Subresource: subresource,
		Namespace:   req.Namespace,
		Name:        req.Name,
		Object:      sub.connectOptions(req),
	}
	if err := s.catalog.config.Admission.Admit(ctx, attributes); err != nil {
		return err
	}
	tx := s.begin()
	defer tx.rollback(ctx)
	if err := s.validateAdmission(ctx, tx, attributes); err != nil {
		return err
	}
	err := sub.Connect(ctx, s, req)
	tx.end(ctx, err, false)
	return err
}
