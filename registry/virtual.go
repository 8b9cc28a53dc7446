package registry

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

func (s *Store) getVirtual(ctx context.Context, name string) (*storage.Entry, error) {
	if s.resource.Virtual.Get == nil {
		return nil, s.unsupported("get")
	}
	obj, err := s.resource.Virtual.Get(ctx, s, name)
	if err != nil {
		return nil, err
	}
	return computedEntry(obj), nil
}

func (s *Store) listVirtual(ctx context.Context, req ListRequest) (*storage.Page, error) {
	if s.resource.Virtual.List == nil {
		return nil, s.unsupported("list")
	}
	objs, err := s.resource.Virtual.List(ctx, s)
	if err != nil {
		return nil, err
	}
	predicate := storage.Predicate{Label: req.Label, Field: req.Field, Attrs: s.attributes}
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

func (s *Store) createVirtual(ctx context.Context, req CreateRequest) (Result, error) {
	if s.resource.Virtual.Create == nil {
		return Result{}, s.unsupported("create")
	}
	attributes := s.createAttributes(req, "")
	if err := s.catalog.config.Admission.Admit(ctx, attributes); err != nil {
		return Result{}, err
	}
	req.Object = attributes.Object
	tx := s.begin()
	defer tx.rollback(ctx)
	if err := s.validateAdmission(ctx, tx, attributes); err != nil {
		return Result{}, err
	}
	obj, err := s.resource.Virtual.Create(withAdmitted(ctx), s, req)
	tx.end(ctx, err, req.Options.DryRun)
	if err != nil {
		return Result{}, err
	}
	return Result{Entry: computedEntry(obj), Created: true}, nil
}
