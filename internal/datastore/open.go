package datastore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/miniapi/miniapi/internal/listener"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// defaultConnectTimeout is the default of Config.ConnectTimeout.
const defaultConnectTimeout = 5 * time.Second

func (d *Datastore) openEmbedded(ctx context.Context) error {
	config := d.config.Embedded
	config.BeforeCompaction = d.config.BeforeCompaction
	config.Logger = slog.New(demotingHandler{d.config.Logger.Handler()}).With("component", "etcd")
	server, err := embedded.Start(ctx, config)
	if err != nil && config.Snapshot != "" {
		return snapshotError(err)
	}
	if err != nil {
		return withAdvice(err, config.DataDir)
	}
	d.embedded, d.etcd = server, server.Client()
	return nil
}

// withAdvice adds a remedy to the error of a data directory or port that cannot be used. dir is
// empty for a temporary directory.
func withAdvice(err error, dir string) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, embedded.ErrInUse):
		return fmt.Errorf("%w: stop that one, or choose another directory (--data-dir)", err)
	case errors.Is(err, embedded.ErrForeign):
		return fmt.Errorf("%w: choose a new or empty directory (--data-dir)", err)
	case errors.Is(err, embedded.ErrCorrupt):
		return fmt.Errorf("%w: restore a backup, or move the directory away to start with an empty one", err)
	case dir != "" && errors.As(err, &path):
		return fmt.Errorf("%w: choose a directory that this user can create and write (--data-dir)", err)
	}
	return listener.AdviseInUse(err, "--etcd-listen-client-url http://127.0.0.1:0")
}

func (d *Datastore) openCluster(ctx context.Context) error {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: d.config.Servers,
		TLS:       d.config.TLS,
		Logger:    zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(failWhenClosed), // around AtMostOnce
			etcd.AtMostOnce(),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		},
	})
	if err != nil {
		return d.clusterError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.connectTimeout())
	defer cancel()
	if _, err := client.Get(ctx, d.config.Prefix+"/", clientv3.WithCountOnly()); err != nil {
		return errors.Join(d.clusterError(err), client.Close())
	}
	if err := etcd.CheckVersion(ctx, client); err != nil {
		return errors.Join(err, client.Close())
	}
	d.etcd, d.closeClient = client, sync.OnceValue(client.Close)
	return nil
}

func (c *Config) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

func (d *Datastore) clusterError(err error) error {
	servers := strings.Join(d.config.Servers, ",")
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("etcd at %s did not answer within %v: check that it runs, its address (--etcd-servers) and its TLS settings (--etcd-cafile, --etcd-certfile, --etcd-keyfile)", servers, d.config.connectTimeout())
	}
	return fmt.Errorf("etcd at %s: %w", servers, err)
}
