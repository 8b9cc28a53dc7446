package memory

import (
	"bytes"
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// errVersionOnCreate has the text of kube-apiserver.
var errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// Create implements storage.Interface.
func (s *Store) Create(_ context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	revision, err := s.versioner.ObjectResourceVersion(obj)
	if err == nil && revision != 0 {
		err = errVersionOnCreate
	}
	if err != nil {
		return nil, failed("create", key, err)
	}
	data, err := s.encode(obj)
	if err != nil {
		return nil, failed("create", key, err)
	}
	if existing, _ := s.entry(key); existing != nil {
		return nil, failed("create", key, storage.ErrExists)
	}
	if opts.DryRun {
		return s.decoder.Entry(key, 0, data), nil
	}
	entry, err := s.replace(key, nil, data)
	if err == nil && entry == nil {
		return nil, failed("create", key, storage.ErrExists)
	}
	return entry, err
}

// GuaranteedUpdate implements storage.Interface.
func (s *Store) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, failed("update", key, err)
		}
		result, err := s.update(ctx, key, propose, opts)
		if result != nil || err != nil {
			return result, err
		}
	}
}

// update makes one attempt. Without a result and an error another write came first.
func (s *Store) update(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	current, _ := s.entry(key)
	if current == nil && !opts.CreateIfAbsent {
		return nil, failed("update", key, storage.ErrNotFound)
	}
	if err := s.check(ctx, opts.Preconditions, key, current); err != nil {
		return nil, failed("update", key, err)
	}
	proposal, err := propose(ctx, current)
	if err != nil {
		return nil, err
	}
	data, outcome, err := s.effect(current, proposal)
	if err != nil {
		return nil, failed("update", key, err)
	}
	entry := current
	switch {
	case outcome == storage.Unchanged:
	case opts.DryRun:
		entry = s.dryRun(key, current, data)
	default:
		if entry, err = s.replace(key, current, data); err != nil || entry == nil {
			return nil, err
		}
	}
	return &storage.UpdateResult{Entry: entry, Outcome: outcome}, nil
}

// effect returns the bytes to store, nil for a deletion, and the outcome of a proposal.
func (s *Store) effect(current *storage.Entry, proposal storage.Proposal) ([]byte, storage.Outcome, error) {
	if proposal.Delete {
		if current == nil {
			return nil, 0, storage.ErrNotFound
		}
		return nil, storage.Deleted, nil
	}
	data, err := s.encode(proposal.Object)
	switch {
	case err != nil:
		return nil, 0, err
	case current == nil:
		return data, storage.Created, nil
	case bytes.Equal(data, current.Data()):
		return data, storage.Unchanged, nil
	}
	return data, storage.Updated, nil
}

// check checks preconditions. An absent object has neither a UID nor a resourceVersion.
func (s *Store) check(ctx context.Context, conditions *storage.Preconditions, key string, current *storage.Entry) error {
	if current == nil {
		current = storage.NewEntry(key, 0, func() (runtime.Object, error) { return &metav1.PartialObjectMetadata{}, nil })
	}
	return conditions.Check(ctx, current)
}

// dryRun returns the entry of a write that does not happen. Nil data is a deletion.
func (s *Store) dryRun(key string, current *storage.Entry, data []byte) *storage.Entry {
	switch {
	case data == nil:
		return current
	case current == nil:
		return s.decoder.Entry(key, 0, data)
	}
	return s.decoder.Entry(key, current.Revision, data)
}

// Delete implements storage.Interface. No object is corrupt.
func (s *Store) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	if opts.OnlyCorrupt {
		return nil, failed("delete", key, storage.ErrNotCorrupt)
	}
	remove := func(context.Context, *storage.Entry) (storage.Proposal, error) {
		return storage.Proposal{Delete: true}, nil
	}
	result, err := s.GuaranteedUpdate(ctx, key, remove, storage.UpdateOptions{Preconditions: opts.Preconditions})
	var failure *storage.KeyError
	if errors.As(err, &failure) {
		return nil, failed("delete", key, failure.Err)
	}
	if err != nil {
		return nil, err
	}
	return result.Entry, nil
}
