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
		return s.deleteCorrupt(ctx, t, opts)
	}
	propose := func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		if opts.Validate != nil {
			if err := opts.Validate(ctx, current); err != nil {
				return storage.Proposal{}, err
			}
		}
		return storage.Proposal{Delete: true, Receipt: opts.Receipt}, nil
	}
	u := &update{store: s, op: "delete", target: t, propose: propose, opts: storage.UpdateOptions{
		Preconditions: opts.Preconditions, Suggestion: opts.Suggestion, DryRun: opts.DryRun,
	}}
	result, err := u.run(ctx)
	if err != nil {
		return nil, err
	}
	return result.Entry, nil
}
