package embedded

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type forwardLease struct{ s *Server }

// Grant implements clientv3.Lease.
func (f forwardLease) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	i, err := f.s.running()
	if err != nil {
		return nil, err
	}
	return i.client.Grant(ctx, ttl)
}

// Revoke implements clientv3.Lease.
func (f forwardLease) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.LeaseRevokeResponse, error) { return i.client.Revoke(ctx, id) })
}

// TimeToLive implements clientv3.Lease.
func (f forwardLease) TimeToLive(ctx context.Context, id clientv3.LeaseID, opts ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.LeaseTimeToLiveResponse, error) {
		return i.client.TimeToLive(ctx, id, opts...)
	})
}

// Leases implements clientv3.Lease.
func (f forwardLease) Leases(ctx context.Context) (*clientv3.LeaseLeasesResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.LeaseLeasesResponse, error) { return i.client.Leases(ctx) })
}

// KeepAlive implements clientv3.Lease. Its channel is closed when the instance ends.
func (f forwardLease) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (<-chan *clientv3.LeaseKeepAliveResponse, error) { return i.client.KeepAlive(ctx, id) })
}

// KeepAliveOnce implements clientv3.Lease.
func (f forwardLease) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.LeaseKeepAliveResponse, error) { return i.client.KeepAliveOnce(ctx, id) })
}

// Close implements clientv3.Lease. Each instance closes its own client.
func (f forwardLease) Close() error { return nil }

// forwardWatcher is a Watcher with one stream of a running instance for each watch.
type forwardWatcher struct {
	clientv3.Watcher
	rpc etcdserverpb.WatchClient
}

func newForwardWatcher(s *Server, client *clientv3.Client) forwardWatcher {
	rpc := forwardWatchClient{s}
	return forwardWatcher{clientv3.NewWatchFromWatchClient(rpc, client), rpc}
}

// WatchClient returns the RPC of watches.
func (w forwardWatcher) WatchClient() etcdserverpb.WatchClient { return w.rpc }

// forwardWatchClient opens the streams of watches.
type forwardWatchClient struct{ s *Server }

// Watch implements etcdserverpb.WatchClient. The stream ends when the instance ends.
func (f forwardWatchClient) Watch(ctx context.Context, opts ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	i, err := f.s.running()
	if err != nil {
		return nil, status.Error(codes.Canceled, err.Error())
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(i.client.Ctx(), cancel)
	context.AfterFunc(ctx, func() { unhook() })
	return i.watches.Watch(ctx, opts...)
}

// forwardMaintenance returns the status of the running instance. All other requests go to the
// first instance.
type forwardMaintenance struct {
	clientv3.Maintenance
	s *Server
}

// Status implements clientv3.Maintenance.
func (f forwardMaintenance) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	return callRunning(ctx, f.s, func(i *instance) (*clientv3.StatusResponse, error) { return i.client.Status(ctx, endpoint) })
}
