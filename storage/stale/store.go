package stale

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// store is a storage.Interface with held reads.
type store struct {
	storage.Interface
}

// Wrap returns a store that passes all calls to next, except held reads.
func Wrap(next storage.Interface) storage.Interface { return &store{next} }

// Get implements storage.Interface.
func (s *store) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.Entry, error) {
	if opts.ResourceVersion == "" {
		return s.Interface.Get(ctx, key, opts)
	}
	hold, revision := holdFrom(ctx)
	required, err := opts.Freshness(s.Versioner())
	if hold == nil || err != nil {
		return s.Interface.Get(ctx, key, opts)
	}
	if required.Minimum > revision {
		return nil, tooFarAhead("get", key, required.Minimum, revision)
	}
	page, err := s.Interface.GetList(ctx, key, at(revision, storage.ListOptions{}))
	if err != nil {
		return nil, err
	}
	if len(page.Entries) == 0 {
		return nil, &storage.KeyError{Op: "get", Key: key, Err: storage.ErrNotFound}
	}
	return page.Entries[0], nil
}

// GetList implements storage.Interface. A list at an exact revision is never stale.
func (s *store) GetList(ctx context.Context, key string, opts storage.ListOptions) (*storage.Page, error) {
	if opts.ResourceVersion == "" || opts.Continue != "" {
		return s.Interface.GetList(ctx, key, opts)
	}
	hold, revision := holdFrom(ctx)
	plan, err := opts.Plan(s.Versioner(), key)
	if hold == nil || err != nil || plan.Exact {
		return s.Interface.GetList(ctx, key, opts)
	}
	if plan.Minimum > revision {
		return nil, tooFarAhead("list", key, plan.Minimum, revision)
	}
	return s.Interface.GetList(ctx, key, at(revision, opts))
}

// at returns the options of the same list at exactly a revision.
func at(revision int64, opts storage.ListOptions) storage.ListOptions {
	opts.ResourceVersion = versioner.Format(revision)
	opts.ResourceVersionMatch = metav1.ResourceVersionMatchExact
	opts.KnownRevision = 0
	return opts
}

func tooFarAhead(op, key string, requested, current int64) error {
	return &storage.KeyError{
		Op: op, Key: key, Revision: requested,
		Err: &storage.FutureRevisionError{Requested: requested, Current: current},
	}
}
