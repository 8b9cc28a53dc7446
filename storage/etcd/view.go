package etcd

import (
	"context"
	"errors"
	"sort"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// errReadOnly is the error of writes by a client of View. Its code says that etcd has rejected the
// request, so that the outcome of the write is known.
var errReadOnly = status.Error(codes.PermissionDenied, "etcd is opened read-only")

// View returns a client of the etcd of another client, which it does not close. The view rejects
// everything that changes etcd. With a revision other than 0 it presents etcd as it was then:
// requests at a later revision fail as requests ahead of the store, and watches never report later
// events.
//
// A view has the requests that a Backend sends. Its fields Auth and Cluster are nil, and its
// Maintenance has Status only.
func View(client *clientv3.Client, revision int64) *clientv3.Client {
	view := clientv3.NewCtxClient(context.Background(), clientv3.WithZapLogger(zap.NewNop()))
	view.KV = viewKV{client, revision}
	view.Lease = viewLease{client}
	view.Watcher = newViewWatcher(view, client, revision)
	view.Maintenance = viewMaintenance{client: client, revision: revision}
	return view
}

// viewKV is the KV of a view.
type viewKV struct {
	kv       clientv3.KV
	revision int64 // 0 for the latest one
}

// Get implements clientv3.KV.
func (v viewKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	resp, err := v.Do(ctx, clientv3.OpGet(key, opts...))
	return resp.Get(), err
}

// Do implements clientv3.KV.
func (v viewKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if !op.IsGet() {
		return clientv3.OpResponse{}, errReadOnly
	}
	if v.revision == 0 {
		return v.kv.Do(ctx, op)
	}
	if op.Rev() > v.revision {
		return clientv3.OpResponse{}, rpctypes.ErrFutureRev
	}
	if op.Rev() <= 0 {
		clientv3.WithRev(v.revision)(&op)
	}
	resp, err := v.kv.Do(ctx, op)
	if err == nil {
		resp.Get().Header = headerAt(resp.Get().Header, v.revision)
	}
	return resp, err
}

// headerAt returns a copy of a header with another revision.
func headerAt(header *etcdserverpb.ResponseHeader, revision int64) *etcdserverpb.ResponseHeader {
	header = proto.CloneOf(header)
	header.Revision = revision
	return header
}

// GetStream implements clientv3.KV. A Backend does not use it.
func (v viewKV) GetStream(context.Context, string, ...clientv3.OpOption) (clientv3.GetStreamChan, error) {
	return nil, status.Error(codes.Unimplemented, "a view of etcd streams no ranges")
}

// Put implements clientv3.KV.
func (v viewKV) Put(context.Context, string, string, ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return nil, errReadOnly
}

// Delete implements clientv3.KV.
func (v viewKV) Delete(context.Context, string, ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	return nil, errReadOnly
}

// Compact implements clientv3.KV.
func (v viewKV) Compact(context.Context, int64, ...clientv3.CompactOption) (*clientv3.CompactResponse, error) {
	return nil, errReadOnly
}

// Txn implements clientv3.KV.
func (v viewKV) Txn(context.Context) clientv3.Txn { return viewTxn{} }

// viewTxn is a transaction of a view, which is rejected whatever its content is.
type viewTxn struct{}

// If implements clientv3.Txn.
func (t viewTxn) If(...clientv3.Cmp) clientv3.Txn { return t }

// Then implements clientv3.Txn.
func (t viewTxn) Then(...clientv3.Op) clientv3.Txn { return t }

// Else implements clientv3.Txn.
func (t viewTxn) Else(...clientv3.Op) clientv3.Txn { return t }

// Commit implements clientv3.Txn.
func (t viewTxn) Commit() (*clientv3.TxnResponse, error) { return nil, errReadOnly }

// viewLease is the Lease of a view. Reads of leases pass.
type viewLease struct{ clientv3.Lease }

// Grant implements clientv3.Lease.
func (viewLease) Grant(context.Context, int64) (*clientv3.LeaseGrantResponse, error) {
	return nil, errReadOnly
}

// Revoke implements clientv3.Lease.
func (viewLease) Revoke(context.Context, clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return nil, errReadOnly
}

// KeepAlive implements clientv3.Lease.
func (viewLease) KeepAlive(context.Context, clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	return nil, errReadOnly
}

// KeepAliveOnce implements clientv3.Lease.
func (viewLease) KeepAliveOnce(context.Context, clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	return nil, errReadOnly
}

// Close implements clientv3.Lease.
func (viewLease) Close() error { return nil }

// viewWatcher is the Watcher of a view.
type viewWatcher struct {
	clientv3.Watcher
	rpc etcdserverpb.WatchClient
}

func newViewWatcher(view, client *clientv3.Client, revision int64) viewWatcher {
	rpc := viewWatchClient{watchClient(client), revision}
	return viewWatcher{clientv3.NewWatchFromWatchClient(rpc, view), rpc}
}

// WatchClient implements RPCWatcher.
func (w viewWatcher) WatchClient() etcdserverpb.WatchClient { return w.rpc }

// viewWatchClient is the RPC of the watches of a view.
type viewWatchClient struct {
	etcdserverpb.WatchClient
	revision int64 // 0 for no limit
}

// Watch implements etcdserverpb.WatchClient.
func (c viewWatchClient) Watch(ctx context.Context, opts ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	rpc, err := c.WatchClient.Watch(ctx, opts...)
	if err != nil || c.revision == 0 {
		return rpc, err
	}
	return viewWatch{rpc, c.revision}, nil
}

// viewWatch is a stream of a view with a limit.
type viewWatch struct {
	etcdserverpb.Watch_WatchClient
	revision int64
}

// Recv implements etcdserverpb.Watch_WatchClient.
func (w viewWatch) Recv() (*etcdserverpb.WatchResponse, error) {
	resp, err := w.Watch_WatchClient.Recv()
	if err != nil {
		return nil, err
	}
	return limitTo(resp, w.revision), nil
}

// limitTo returns a response without the events after a revision. Without events it is a
// notification of progress up to that revision.
func limitTo(resp *etcdserverpb.WatchResponse, revision int64) *etcdserverpb.WatchResponse {
	if resp.Header.GetRevision() <= revision {
		return resp
	}
	later := sort.Search(len(resp.Events), func(i int) bool { return resp.Events[i].Kv.ModRevision > revision })
	return &etcdserverpb.WatchResponse{
		Header: headerAt(resp.Header, revision), Events: resp.Events[:later], WatchId: resp.WatchId, Created: resp.Created,
		Canceled: resp.Canceled, CancelReason: resp.CancelReason, CompactRevision: resp.CompactRevision,
	}
}

// viewMaintenance is the Maintenance of a view.
type viewMaintenance struct {
	clientv3.Maintenance // nil
	client               *clientv3.Client
	revision             int64 // 0 for the latest one
}

// Status implements clientv3.Maintenance. The endpoint of a view is "", as the endpoint of an etcd
// in this process: it stands for the first member that answers.
func (v viewMaintenance) Status(ctx context.Context, _ string) (*clientv3.StatusResponse, error) {
	var errs []error
	for _, endpoint := range endpoints(v.client) {
		resp, err := v.client.Status(ctx, endpoint)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if v.revision != 0 {
			resp.Header = headerAt(resp.Header, v.revision)
		}
		return resp, nil
	}
	return nil, errors.Join(errs...)
}
