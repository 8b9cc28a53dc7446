package embedded

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
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
	return callRunning(f.s, func(c *clientv3.Client) (*clientv3.LeaseRevokeResponse, error) { return c.Revoke(ctx, id) })
}

// TimeToLive implements clientv3.Lease.
func (f forwardLease) TimeToLive(ctx context.Context, id clientv3.LeaseID, opts ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	return callRunning(f.s, func(c *clientv3.Client) (*clientv3.LeaseTimeToLiveResponse, error) {
		return c.TimeToLive(ctx, id, opts...)
	})
}

// Leases implements clientv3.Lease.
func (f forwardLease) Leases(ctx context.Context) (*clientv3.LeaseLeasesResponse, error) {
	return callRunning(f.s, func(c *clientv3.Client) (*clientv3.LeaseLeasesResponse, error) { return c.Leases(ctx) })
}

// KeepAlive implements clientv3.Lease. Its channel is closed when the instance ends.
func (f forwardLease) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	return callRunning(f.s, func(c *clientv3.Client) (<-chan *clientv3.LeaseKeepAliveResponse, error) { return c.KeepAlive(ctx, id) })
}

// KeepAliveOnce implements clientv3.Lease.
func (f forwardLease) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	return callRunning(f.s, func(c *clientv3.Client) (*clientv3.LeaseKeepAliveResponse, error) { return c.KeepAliveOnce(ctx, id) })
}

// Close implements clientv3.Lease. Each instance closes its own client.
func (f forwardLease) Close() error { return nil }

type forwardWatcher struct{ s *Server }

// Watch implements clientv3.Watcher. Its channel is closed when the instance ends.
func (f forwardWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	i, err := f.s.running()
	if err != nil {
		ended := make(chan clientv3.WatchResponse)
		close(ended)
		return ended
	}
	return i.client.Watch(ctx, key, opts...)
}

// RequestProgress implements clientv3.Watcher.
func (f forwardWatcher) RequestProgress(ctx context.Context) error {
	i, err := f.s.running()
	if err != nil {
		return err
	}
	return i.client.RequestProgress(ctx)
}

// Close implements clientv3.Watcher. Each instance closes its own client.
func (f forwardWatcher) Close() error { return nil }

// forwardMaintenance returns the status of the running instance. All other requests go to the
// first instance.
type forwardMaintenance struct {
	clientv3.Maintenance
	s *Server
}

// Status implements clientv3.Maintenance.
func (f forwardMaintenance) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	return callRunning(f.s, func(c *clientv3.Client) (*clientv3.StatusResponse, error) { return c.Status(ctx, endpoint) })
}
