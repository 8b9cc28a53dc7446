package embedded

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// newForwardingClient returns a client that calls the current instance. Requests about clusters
// and users, which this project does not send, go to the first instance.
func newForwardingClient(s *Server, first *clientv3.Client) *clientv3.Client {
	client := clientv3.NewCtxClient(context.Background(), clientv3.WithZapLogger(zap.NewNop()))
	client.KV = forwardKV{s}
	client.Lease = forwardLease{s}
	client.Watcher = newForwardWatcher(s, client)
	client.Maintenance = forwardMaintenance{first.Maintenance, s}
	client.Cluster, client.Auth = first.Cluster, first.Auth
	return client
}

// callRunning calls the running instance. It returns if the instance fails or ctx ends during the
// call: the call may then never return, because etcd holds its locks.
func callRunning[T any](ctx context.Context, s *Server, call func(*instance) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	i, err := s.running()
	if err != nil {
		return none, errRestarting
	}
	returned := make(chan result, 1)
	go func() { // ends with the call
		if !i.beginCall() {
			returned <- result{err: rpctypes.ErrStopped}
			return
		}
		defer i.calls.RUnlock()
		value, err := call(i)
		returned <- result{value, err}
	}()
	select {
	case r := <-returned:
		return r.value, r.err
	case <-i.fatal.failed:
		return none, errRestarting
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// read is callRunning for a read, which it repeats after a change of the leader. etcd fails the
// reads with it that begin before its loop for reads has seen the election at the start.
func read[T any](ctx context.Context, s *Server, call func(*instance) (T, error)) (T, error) {
	for {
		value, err := callRunning(ctx, s, call)
		if !errors.Is(rpctypes.Error(err), rpctypes.ErrLeaderChanged) {
			return value, err
		}
	}
}

type forwardKV struct{ s *Server }

// Put implements clientv3.KV.
func (f forwardKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := f.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// Get implements clientv3.KV.
func (f forwardKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return read(ctx, f.s, func(i *instance) (*clientv3.GetResponse, error) { return i.client.Get(ctx, key, opts...) })
}

// GetStream implements clientv3.KV.
func (f forwardKV) GetStream(ctx context.Context, key string, opts ...clientv3.OpOption) (clientv3.GetStreamChan, error) {
	return read(ctx, f.s, func(i *instance) (clientv3.GetStreamChan, error) { return i.client.GetStream(ctx, key, opts...) })
}

// Delete implements clientv3.KV.
func (f forwardKV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	resp, err := f.Do(ctx, clientv3.OpDelete(key, opts...))
	return resp.Del(), err
}

// Compact implements clientv3.KV.
func (f forwardKV) Compact(ctx context.Context, revision int64, opts ...clientv3.CompactOption) (*clientv3.CompactResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.CompactResponse, error) { return i.client.Compact(ctx, revision, opts...) })
}

// Do implements clientv3.KV. A write that an instance does not answer ends with etcd's own time
// limit for requests.
func (f forwardKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if op.IsGet() {
		return read(ctx, f.s, func(i *instance) (clientv3.OpResponse, error) { return i.client.Do(ctx, op) })
	}
	i, err := f.s.running()
	if err != nil {
		return clientv3.OpResponse{}, err
	}
	resp, err := i.client.Do(ctx, op)
	f.s.observeRevision(revisionOf(resp))
	return resp, err
}

// Txn implements clientv3.KV.
func (f forwardKV) Txn(ctx context.Context) clientv3.Txn { return &forwardTxn{kv: f, ctx: ctx} }

// forwardTxn is a transaction that is sent with Do.
type forwardTxn struct {
	kv              forwardKV
	ctx             context.Context
	compare         []clientv3.Cmp
	then, otherwise []clientv3.Op
}

// If implements clientv3.Txn.
func (t *forwardTxn) If(compare ...clientv3.Cmp) clientv3.Txn {
	t.compare = append(t.compare, compare...)
	return t
}

// Then implements clientv3.Txn.
func (t *forwardTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

// Else implements clientv3.Txn.
func (t *forwardTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.otherwise = append(t.otherwise, ops...)
	return t
}

// Commit implements clientv3.Txn.
func (t *forwardTxn) Commit() (*clientv3.TxnResponse, error) {
	resp, err := t.kv.Do(t.ctx, clientv3.OpTxn(t.compare, t.then, t.otherwise))
	return resp.Txn(), err
}
