package embedded

import (
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// pingInterval is the least time between two pings of a client, as etcd has
// it. gRPC's own default of five minutes would throw most etcd clients out.
const pingInterval = 5 * time.Second

// front is what clients outside of this process see: etcd's gRPC services on
// some listeners. Without listeners it does nothing.
type front struct {
	listeners []net.Listener
	server    *grpc.Server // nil until serve
	serving   sync.WaitGroup
}

// listen takes the ports, so that a busy one is known before anything else is
// done.
func listen(clientURLs []string) (*front, error) {
	f := &front{}
	for _, raw := range clientURLs {
		address, err := listenAddress(raw)
		if err != nil {
			return f, err
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return f, fmt.Errorf("client URL %s: %w", raw, err)
		}
		f.listeners = append(f.listeners, listener)
	}
	return f, nil
}

func (f *front) urls() types.URLs {
	urls := make(types.URLs, 0, len(f.listeners))
	for _, listener := range f.listeners {
		urls = append(urls, url.URL{Scheme: "http", Host: listener.Addr().String()})
	}
	return urls
}

func (f *front) serve(etcd *etcdserver.EtcdServer) {
	if len(f.listeners) == 0 {
		return
	}
	f.server = v3rpc.Server(etcd, nil, nil,
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingInterval}))
	for _, listener := range f.listeners {
		// Serve ends with close. Until then it retries what can be retried.
		f.serving.Go(func() { _ = f.server.Serve(listener) })
	}
}

func (f *front) close() {
	if f.server != nil {
		f.server.Stop()
	}
	for _, listener := range f.listeners {
		// The server has closed it already if there was one.
		_ = listener.Close()
	}
	f.serving.Wait()
}
