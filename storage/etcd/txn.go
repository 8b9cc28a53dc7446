package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// guardedWrite is a write of one key on condition that the key has a revision.
type guardedWrite struct {
	op string // for errors
	target
	revision    int64  // ModRevision that the key must have, 0 for an absent key
	data        []byte // as the codec encoded it
	ttl         int64  // in seconds, 0 for none
	keepLease   bool   // keep the lease of the key and ignore ttl
	readCurrent bool   // return the current value if the key has another revision
	unique      bool   // no other write has the same data
	receipt     string // unique value of the receipt, "" for none
}

// txnResult is the result of the transaction of a guardedWrite.
type txnResult struct {
	succeeded bool
	revision  int64            // of the store after the transaction
	current   *mvccpb.KeyValue // the current value, nil if it is absent or was not requested
	fenced    bool             // the fence was raised, so the transaction must be sent again
}

// put writes a value if the key still has its revision.
func (s *resourceStore) put(ctx context.Context, w guardedWrite) (txnResult, error) {
	value, err := s.cfg.Transformer.ToStorage(ctx, w.data, w.path)
	if err != nil {
		return txnResult{}, rejected(w.op, w.key, w.revision, err)
	}
	result, lease, err := s.putLeased(ctx, w, value)
	if lease != clientv3.NoLease && errors.Is(err, rpctypes.ErrLeaseNotFound) {
		// The lease was lost and nothing was written.
		s.leases.clear()
		result, _, err = s.putLeased(ctx, w, value)
	}
	return result, err
}

func (s *resourceStore) putLeased(ctx context.Context, w guardedWrite, value []byte) (txnResult, clientv3.LeaseID, error) {
	lease := clientv3.LeaseID(clientv3.NoLease)
	var opts []clientv3.OpOption
	switch {
	case w.keepLease:
		opts = append(opts, clientv3.WithIgnoreLease())
	case w.ttl != 0:
		var err error
		if lease, err = s.leases.acquire(ctx, w.ttl); err != nil {
			return txnResult{}, clientv3.NoLease, leaseError(w, err)
		}
		opts = append(opts, clientv3.WithLease(lease))
	}
	op := clientv3.OpPut(w.path, "", opts...)
	op.WithValueBytes(value) // without a copy of the value into a string
	result, err := s.commit(ctx, w, op)
	return result, lease, err
}

// remove deletes a key if it still has its revision.
func (s *resourceStore) remove(ctx context.Context, w guardedWrite) (txnResult, error) {
	return s.commit(ctx, w, clientv3.OpDelete(w.path))
}

// commit sends the transaction of a write, again after the fence was raised. If ctx has ended it
// sends nothing. If ctx ends later, the transaction that was sent is not cancelled.
func (s *resourceStore) commit(ctx context.Context, w guardedWrite, op clientv3.Op) (txnResult, error) {
	for {
		if err := ctx.Err(); err != nil {
			return txnResult{}, failed(w.op, w.key, w.revision, storage.ErrUnavailable, err)
		}
		result, err := s.commitOnce(ctx, w, op)
		if err != nil || !result.fenced {
			return result, err
		}
	}
}

func (s *resourceStore) commitOnce(ctx context.Context, w guardedWrite, op clientv3.Op) (txnResult, error) {
	fence := s.fence.value.Load()
	sent := sentWrite{guardedWrite: w, value: op.ValueBytes(), deletes: op.IsDelete(), fence: fence.revision, since: s.known.Load()}
	guard := []clientv3.Cmp{modRevisionIs(w.path, w.revision), fence.equals}
	var otherwise []clientv3.Op
	if w.readCurrent {
		otherwise = []clientv3.Op{clientv3.OpGet(w.path)}
	}
	ops := []clientv3.Op{op}
	if w.receipt != "" {
		ops = append(ops, clientv3.OpPut(s.cfg.Prefix+receiptKey, w.receipt))
	}
	sending := detach(ctx)
	defer sending.end()
	resp, err := s.kv.Do(sending.ctx, clientv3.OpTxn(guard, ops, otherwise))
	if err != nil {
		return s.unanswered(ctx, sent, err)
	}
	txn := resp.Txn()
	result := txnResult{succeeded: txn.Succeeded, revision: txn.Header.Revision}
	s.learnRevision(result.revision)
	if result.succeeded {
		return result, nil
	}
	if w.readCurrent {
		if kvs := txn.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			result.current = kvs[0]
		}
	}
	if result.current.GetModRevision() == w.revision { // the fence may be why it failed
		if result.fenced, err = s.fence.learn(ctx, s.kv, sent.fence); err != nil {
			return txnResult{}, readError(w.op, w.key, err)
		}
	}
	return result, nil
}
