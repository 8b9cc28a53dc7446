package etcd

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

// Delete implements storage.Interface.
func (s *store) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	t, err := s.target("delete", key)
	if err != nil {
		return nil, err
	}
	if opts.OnlyCorrupt {
		return s.deleteCorrupt(ctx, t, opts)
	}
	st, err := s.start(ctx, "delete", t, trusted(opts.Suggestion, opts.DryRun))
	if err != nil {
		return nil, err
	}
	for {
		if err := s.mayDelete(ctx, t, st, opts); err != nil {
			fresh, readErr := s.recheck(ctx, "delete", t, st)
			if readErr != nil {
				return nil, readErr
			}
			if fresh == nil {
				return nil, err
			}
			st = fresh
			continue
		}
		entry, current, err := s.commitDelete(ctx, t, st, opts)
		if err != nil || entry != nil {
			return entry, err
		}
		st = current // the race is lost: go on from what is there
	}
}

// commitDelete deletes the state. Without an entry and an error the key has
// changed meanwhile: current is what is there now.
func (s *store) commitDelete(ctx context.Context, t target, st *state, opts storage.DeleteOptions) (deleted *storage.Entry, current *state, err error) {
	if opts.DryRun {
		return st.entry, nil, nil
	}
	v, err := s.remove(ctx, "delete", t, st.revision, newReceipt(opts.Receipt))
	if err != nil {
		return nil, nil, err
	}
	if !v.done {
		current, err = s.stateOf(ctx, t, v.current)
		return nil, current, err
	}
	return s.deleted(st, v.revision), nil, nil
}

// mayDelete returns why the state must not be deleted, nil if it may.
func (s *store) mayDelete(ctx context.Context, t target, st *state, opts storage.DeleteOptions) error {
	if st.entry == nil {
		return failed("delete", t.key, 0, storage.ErrNotFound, nil)
	}
	if err := s.checkPreconditions("delete", t, st, opts.Preconditions); err != nil {
		return err
	}
	if opts.Validate == nil {
		return nil
	}
	return opts.Validate(ctx, st.entry)
}
