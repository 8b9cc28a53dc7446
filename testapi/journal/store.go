package journal

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// store reports the writes of a storage to a journal.
type store struct {
	storage.Interface
	journal  *Journal
	resource schema.GroupResource
}

// Wrap returns a storage that reports the writes of a resource to the journal. It is a
// registry.CatalogConfig.Wrap.
func (j *Journal) Wrap(s storage.Interface, resource schema.GroupResource) storage.Interface {
	return &store{Interface: s, journal: j, resource: resource}
}

// write returns the record of a write.
func (s *store) write(ctx context.Context, entry *storage.Entry, base int64, outcome storage.Outcome) *Write {
	w := &Write{
		Revision: entry.Revision, Base: base, Key: entry.Key, Resource: s.resource,
		Outcome: outcome, Time: s.journal.now(),
	}
	if user := registry.UserFrom(ctx); user != nil {
		w.User = user.Username
	}
	if origin := registry.OriginFrom(ctx); origin != nil {
		w.Origin = *origin
	}
	return w
}

// Create implements storage.Interface.
func (s *store) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	if opts.DryRun {
		return s.Interface.Create(ctx, key, obj, opts)
	}
	var w *Write
	number := s.journal.begin(key)
	defer func() { s.journal.end(key, number, w) }()
	entry, err := s.Interface.Create(ctx, key, obj, opts)
	if err == nil {
		w = s.write(ctx, entry, 0, storage.Created)
	}
	return entry, err
}

// GuaranteedUpdate implements storage.Interface.
func (s *store) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	if opts.DryRun {
		return s.Interface.GuaranteedUpdate(ctx, key, propose, opts)
	}
	var w *Write
	number := s.journal.begin(key)
	defer func() { s.journal.end(key, number, w) }()
	var base int64
	result, err := s.Interface.GuaranteedUpdate(ctx, key, func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		base = 0
		if current != nil {
			base = current.Revision
		}
		return propose(ctx, current)
	}, opts)
	if err == nil && result.Outcome != storage.Unchanged {
		w = s.write(ctx, result.Entry, base, result.Outcome)
	}
	return result, err
}

// Delete implements storage.Interface.
func (s *store) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	var w *Write
	number := s.journal.begin(key)
	defer func() { s.journal.end(key, number, w) }()
	entry, err := s.Interface.Delete(ctx, key, opts)
	if err == nil {
		w = s.write(ctx, entry, 0, storage.Deleted)
	}
	return entry, err
}
