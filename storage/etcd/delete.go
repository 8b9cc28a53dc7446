package etcd

import (
	"context"

	"github.com/miniapi/miniapi/storage"
)

// Delete implements storage.Interface. It is an update whose proposal deletes.
func (s *resourceStore) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (*storage.Entry, error) {
	t, err := s.target("delete", key)
	if err != nil {
		return nil, err
	}
	if opts.OnlyCorrupt {
		return s.deleteCorrupt(ctx, t)
	}
	u := &update{
		store: s, op: "delete", target: t,
		propose: func(context.Context, *storage.Entry) (storage.Proposal, error) {
			return storage.Proposal{Delete: true, Receipt: opts.Receipt}, nil
		},
		opts: storage.UpdateOptions{Preconditions: opts.Preconditions, Suggestion: opts.Suggestion},
	}
	result, err := u.run(ctx)
	if err != nil {
		return nil, err
	}
	return result.Entry, nil
}
