package etcd

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// seedsPerTxn keeps a transaction well under etcd's limit of operations, which
// counts those of nested transactions as well.
const seedsPerTxn = 60

// Seed is an encoded object that is to exist from the start.
type Seed struct {
	Key   string // without the backend's prefix
	Value []byte
}

// Seed writes the seeds whose keys are free and leaves the others alone, many in
// one transaction. It can be repeated.
func (b *Backend) Seed(ctx context.Context, seeds []Seed) error {
	for chunk := range slices.Chunk(seeds, seedsPerTxn) {
		ops := make([]clientv3.Op, len(chunk))
		for i, seed := range chunk {
			op, err := b.createIfAbsent(ctx, seed)
			if err != nil {
				return fmt.Errorf("seed %s: %w", seed.Key, err)
			}
			ops[i] = op
		}
		if _, err := b.client.Txn(ctx).Then(ops...).Commit(); err != nil {
			return writeError("create", chunk[0].Key, err)
		}
	}
	return nil
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
	absent := clientv3.Compare(clientv3.ModRevision(t.path), "=", 0)
	put := clientv3.OpPut(t.path, "")
	put.WithValueBytes(value)
	return clientv3.OpTxn([]clientv3.Cmp{absent}, []clientv3.Op{put}, nil), nil
}
