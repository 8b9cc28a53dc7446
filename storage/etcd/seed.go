package etcd

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// seedsPerTxn is the number of seeds in a transaction. It stays well below etcd's limit of
// operations, including the operations of nested transactions.
const seedsPerTxn = 60

// Seed is an encoded object that exists from the start of the server.
type Seed struct {
	Key   string // without the prefix of the Backend
	Value []byte
}

// Seed creates the seeds that do not exist, many in one transaction, and does not change the other
// ones. It reads before it writes, so that it succeeds on a full database that has all seeds. It is
// idempotent.
func (b *Backend) Seed(ctx context.Context, seeds []Seed) error {
	for chunk := range slices.Chunk(seeds, seedsPerTxn) {
		missing, err := b.missing(ctx, chunk)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			continue
		}
		if err := b.createAll(ctx, missing); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the seeds that do not exist.
func (b *Backend) missing(ctx context.Context, seeds []Seed) ([]Seed, error) {
	ops := make([]clientv3.Op, len(seeds))
	for i, seed := range seeds {
		t, err := b.target("create", seed.Key)
		if err != nil {
			return nil, err
		}
		ops[i] = clientv3.OpGet(t.path, b.consistent(clientv3.WithCountOnly())...)
	}
	resp, err := b.kv.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, readError("create", seeds[0].Key, err)
	}
	var missing []Seed
	for i, seed := range seeds {
		if resp.Responses[i].GetResponseRange().Count == 0 {
			missing = append(missing, seed)
		}
	}
	return missing, nil
}

// createAll creates the seeds that still do not exist.
func (b *Backend) createAll(ctx context.Context, seeds []Seed) error {
	ops := make([]clientv3.Op, len(seeds))
	for i, seed := range seeds {
		op, err := b.createIfAbsent(ctx, seed)
		if err != nil {
			return fmt.Errorf("seed %s: %w", seed.Key, err)
		}
		ops[i] = op
	}
	_, err := b.kv.Do(ctx, clientv3.OpTxn(nil, ops, nil))
	switch {
	case err == nil:
		return nil
	case isNoSpace(err): // it may have been applied, but Seed can be repeated
		return noSpaceError("create", seeds[0].Key, err)
	default:
		return writeError("create", seeds[0].Key, err)
	}
}

func (b *Backend) createIfAbsent(ctx context.Context, seed Seed) (clientv3.Op, error) {
	t, err := b.target("create", seed.Key)
	if err != nil {
		return clientv3.Op{}, err
	}
	value, err := b.cfg.Transformer.ToStorage(ctx, seed.Value, t.path)
	if err != nil {
		return clientv3.Op{}, err
	}
	absent := modRevisionIs(t.path, 0)
	put := clientv3.OpPut(t.path, "")
	put.WithValueBytes(value)
	return clientv3.OpTxn([]clientv3.Cmp{absent}, []clientv3.Op{put}, nil), nil
}
