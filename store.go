package miniapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// reachTimeout is how long a cluster may take to answer at the start.
const reachTimeout = 5 * time.Second

// store is the etcd behind a server: an embedded one, or a client of a cluster.
type store struct {
	client   *clientv3.Client
	embedded *embedded.Server // nil for a cluster
}

// clientMessageBytes is the largest message that an etcd client sends, whatever
// the cluster takes.
const clientMessageBytes = 2 << 20

// maxObjectBytes is the size from which on no object can be stored.
func (s *store) maxObjectBytes() int {
	if s.embedded != nil {
		return embedded.MaxRequestBytes
	}
	return clientMessageBytes
}

func openStore(ctx context.Context, config Config) (*store, error) {
	if len(config.EtcdServers) > 0 {
		return openCluster(ctx, config)
	}
	server, err := embedded.Start(ctx, embedded.Config{
		DataDir:          config.DataDir,
		ListenClientURLs: config.EtcdListenClientURLs,
		QuotaBytes:       config.EtcdQuotaBackendBytes,
		Logger:           config.Logger.With("component", "etcd"),
	})
	if err != nil {
		return nil, advise(err)
	}
	return &store{client: server.Client(), embedded: server}, nil
}

// advise adds what to do about a data directory that cannot be used.
func advise(err error) error {
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return fmt.Errorf("%w: stop that one, or choose another directory (--data-dir)", err)
	case errors.Is(err, embedded.ErrForeign):
		return fmt.Errorf("%w: choose a new or empty directory (--data-dir)", err)
	case errors.Is(err, embedded.ErrCorrupt):
		return fmt.Errorf("%w: put a backup in its place, or move it away to begin anew", err)
	}
	return err
}

func openCluster(ctx context.Context, config Config) (*store, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: config.EtcdServers,
		TLS:       config.EtcdTLS,
		Logger:    zap.NewNop(),
		DialOptions: []grpc.DialOption{
			etcd.AtMostOnce(),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd at %s: %w", strings.Join(config.EtcdServers, ","), err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if _, err := client.Get(ctx, config.EtcdPrefix, clientv3.WithCountOnly()); err != nil {
		return nil, errors.Join(unreachable(config, err), client.Close())
	}
	if err := etcd.CheckVersion(ctx, client); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &store{client: client}, nil
}

func unreachable(config Config, err error) error {
	at := strings.Join(config.EtcdServers, ",")
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("etcd at %s did not answer within %v: check that it runs, the address (--etcd-servers), and its TLS settings (--etcd-cafile, --etcd-certfile, --etcd-keyfile)", at, reachTimeout)
	}
	return fmt.Errorf("etcd at %s: %w", at, err)
}

// member returns the embedded etcd, nil for a cluster.
func (s *store) member() etcd.Member {
	if s.embedded == nil {
		return nil
	}
	return s.embedded
}

// checkEtcd returns nil if etcd answers, and while an embedded etcd waits for disk
// space, which a restart of the server would not give it; see spaceProblem.
func (s *Server) checkEtcd(ctx context.Context) error {
	err := s.backend.Ready(ctx)
	if err != nil && s.store.embedded != nil && s.store.embedded.SpaceProblem() != nil {
		return nil
	}
	return err
}

// spaceProblem returns why writes are refused for lack of space, nil if they are
// not.
func (s *store) spaceProblem(ctx context.Context) error {
	if s.embedded != nil {
		return s.embedded.SpaceProblem()
	}
	return etcd.SpaceProblem(ctx, s.client)
}

// watch returns when ctx ends, or with an error when the embedded etcd dies.
func (s *store) watch(ctx context.Context) error {
	if s.embedded == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.embedded.Done():
		return s.embedded.Err()
	}
}

func (s *store) close(ctx context.Context) error {
	if s.embedded != nil {
		return s.embedded.Close(ctx)
	}
	return s.client.Close()
}
