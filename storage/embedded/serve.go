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

// pingInterval is the minimum time between two pings of a client, as in etcd. With gRPC's default
// of five minutes, the server would disconnect most etcd clients.
const pingInterval = 5 * time.Second

// clientServer serves clients of other processes: on each listener etcd's gRPC services, and over
// HTTP/1 its pages for health, version and metrics. Without listeners it does nothing.
type clientServer struct {
	listeners []net.Listener
	http      *http.Server // nil until serve, as the next fields
	grpc      *grpc.Server
	portMux   *portMux // passes connections from http to grpc
	serving   sync.WaitGroup
}

// listen opens the ports first of all, so that a start with a busy port fails early.
func listen(clientURLs []string) (*clientServer, error) {
	s := &clientServer{}
	for _, raw := range clientURLs {
		address, err := listenAddress(raw)
		if err != nil {
			return s, err
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return s, fmt.Errorf("client URL %s: %w", raw, err)
		}
		s.listeners = append(s.listeners, listener)
	}
	return s, nil
}

func (s *clientServer) urls() types.URLs {
	urls := make(types.URLs, 0, len(s.listeners))
	for _, listener := range s.listeners {
		urls = append(urls, url.URL{Scheme: "http", Host: listener.Addr().String()})
	}
	return urls
}

func (s *clientServer) serve(etcd *etcdserver.EtcdServer) {
	if len(s.listeners) == 0 {
		return
	}
	s.grpc = v3rpc.Server(etcd, nil, nil,
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingInterval}))
	s.portMux = newPortMux(s.listeners[0].Addr(), pages(etcd))
	s.http = &http.Server{Handler: s.portMux, ErrorLog: log.New(io.Discard, "", 0)}
	// close ends each Serve. Until then Serve retries temporary errors.
	s.serving.Go(func() { _ = s.grpc.Serve(s.portMux) })
	for _, listener := range s.listeners {
		s.serving.Go(func() { _ = s.http.Serve(listener) })
	}
}

// pages returns etcd's HTTP pages.
func pages(etcd *etcdserver.EtcdServer) http.Handler {
	mux := http.NewServeMux()
	etcdhttp.HandleHealth(etcd.Logger(), mux, etcd)
	etcdhttp.HandleVersion(mux, etcd)
	etcdhttp.HandleMetrics(mux)
	return mux
}

func (s *clientServer) close() {
	if s.http != nil {
		// The error is about listeners that are closed already.
		_ = s.http.Close()
		s.grpc.Stop()
	}
	for _, listener := range s.listeners {
		// The HTTP server has closed it already, if there was one.
		_ = listener.Close()
	}
	s.serving.Wait()
}
