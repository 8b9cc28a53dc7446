package embedded

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/etcdhttp"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// pingInterval is the least time between two pings of a client, as etcd has
// it. gRPC's own default of five minutes would throw most etcd clients out.
const pingInterval = 5 * time.Second

// front is what clients outside of this process see: on each listener etcd's
// gRPC services, and its pages about health, version and metrics over HTTP/1.
// Without listeners it does nothing.
type front struct {
	listeners []net.Listener
	http      *http.Server // nil until serve, as what follows
	grpc      *grpc.Server
	handover  *handover // from http to grpc
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
	f.grpc = v3rpc.Server(etcd, nil, nil,
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingInterval}))
	f.handover = newHandover(f.listeners[0].Addr(), pages(etcd))
	f.http = &http.Server{Handler: f.handover, ErrorLog: log.New(io.Discard, "", 0)}
	// Each Serve ends with close. Until then it retries what can be retried.
	f.serving.Go(func() { _ = f.grpc.Serve(f.handover) })
	for _, listener := range f.listeners {
		f.serving.Go(func() { _ = f.http.Serve(listener) })
	}
}

// pages are those that etcd shows beside its services.
func pages(etcd *etcdserver.EtcdServer) http.Handler {
	mux := http.NewServeMux()
	etcdhttp.HandleHealth(etcd.Logger(), mux, etcd)
	etcdhttp.HandleVersion(mux, etcd)
	etcdhttp.HandleMetrics(mux)
	return mux
}

func (f *front) close() {
	if f.http != nil {
		// Its error is that of closing listeners, which are done with.
		_ = f.http.Close()
		f.grpc.Stop()
	}
	for _, listener := range f.listeners {
		// The server has closed it already if there was one.
		_ = listener.Close()
	}
	f.serving.Wait()
}
