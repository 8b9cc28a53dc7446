package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// put is a value on its way into a key.
type put struct {
	op string
	target
	revision  int64  // which the key must still have, 0: must not exist
	data      []byte // as the codec made it
	ttl       int64  // seconds, 0: none
	keepLease bool   // keep the lease the key has; ttl is ignored
	orElse    bool   // if the key has another revision, return what is there
	unique    bool   // no other write puts the same data
	receipt   string // unique value of the receipt, "": none
}

// verdict is what a guarded transaction came to.
type verdict struct {
	done     bool
	revision int64            // of the store after the transaction
	current  *mvccpb.KeyValue // what is there instead, if it was asked for
	fenced   bool             // the fence was raised: nothing is decided
}

// write writes a value if the key has not changed.
func (s *store) write(ctx context.Context, p put) (verdict, error) {
	value, err := s.cfg.Transformer.ToStorage(ctx, p.data, p.path)
	if err != nil {
		return verdict{}, refused(p.op, p.key, p.revision, err)
	}
	v, lease, err := s.writeLeased(ctx, p, value)
	if lease != clientv3.NoLease && errors.Is(err, rpctypes.ErrLeaseNotFound) {
		// Nothing was written.
		s.leases.clear()
		v, _, err = s.writeLeased(ctx, p, value)
	}
	return v, err
}

func (s *store) writeLeased(ctx context.Context, p put, value []byte) (verdict, clientv3.LeaseID, error) {
	lease := clientv3.LeaseID(clientv3.NoLease)
	var opts []clientv3.OpOption
	switch {
	case p.keepLease:
		opts = append(opts, clientv3.WithIgnoreLease())
	case p.ttl != 0:
		var err error
		if lease, err = s.leases.acquire(ctx, p.ttl); err != nil {
			return verdict{}, clientv3.NoLease, leaseError(p, err)
		}
		opts = append(opts, clientv3.WithLease(lease))
	}
	change := clientv3.OpPut(p.path, "", opts...)
	change.WithValueBytes(value) // no copy of the value into a string
	v, err := s.commit(ctx, p, change)
	return v, lease, err
}

// remove deletes a key if it has not changed.
func (s *store) remove(ctx context.Context, op string, t target, revision int64, receipt string) (verdict, error) {
	p := put{op: op, target: t, revision: revision, orElse: true, receipt: receipt}
	return s.commit(ctx, p, clientv3.OpDelete(t.path))
}

// commit runs one change guarded by the revision of its key. The end of ctx keeps
// a change from being sent, and does not break off one that was sent.
func (s *store) commit(ctx context.Context, p put, change clientv3.Op) (verdict, error) {
	for {
		if err := ctx.Err(); err != nil {
			return verdict{}, failed(p.op, p.key, p.revision, storage.ErrUnavailable, err)
		}
		v, err := s.commitOnce(ctx, p, change)
		if err != nil || !v.fenced {
			return v, err
		}
	}
}

func (s *store) commitOnce(ctx context.Context, p put, change clientv3.Op) (verdict, error) {
	sent := sentWrite{put: p, value: change.ValueBytes(), deletes: change.IsDelete(), fence: s.fence.value.Load(), since: s.known.Load()}
	guard := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(p.path), "=", p.revision), s.fence.isLowered(sent.fence)}
	var otherwise []clientv3.Op
	if p.orElse {
		otherwise = []clientv3.Op{clientv3.OpGet(p.path)}
	}
	changes := []clientv3.Op{change}
	if p.receipt != "" {
		changes = append(changes, clientv3.OpPut(s.cfg.Prefix+receiptKey, p.receipt))
	}
	sending, cancel := finishing(ctx)
	defer cancel()
	resp, err := s.client.Do(sending, clientv3.OpTxn(guard, changes, otherwise))
	if err != nil {
		return s.unanswered(ctx, sent, err)
	}
	txn := resp.Txn()
	v := verdict{done: txn.Succeeded, revision: txn.Header.Revision}
	s.learnRevision(v.revision)
	if v.done {
		return v, nil
	}
	if p.orElse {
		if kvs := txn.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			v.current = kvs[0]
		}
	}
	if v.current.GetModRevision() == p.revision { // not shown to have changed
		if v.fenced, err = s.fence.learn(ctx, s.client, sent.fence); err != nil {
			return verdict{}, readError(p.op, p.key, err)
		}
	}
	return v, nil
}
