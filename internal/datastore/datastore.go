package datastore

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/metered"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// clientMessageBytes is the largest message that an etcd client sends, whatever limit the cluster
// has.
const clientMessageBytes = 2 << 20

// Config selects an etcd.
type Config struct {
	// Servers are the client URLs of a cluster. Empty: an embedded etcd.
	Servers []string
	// TLS is for https URLs in Servers. It may be nil.
	TLS *tls.Config
	// Embedded configures the embedded etcd.
	Embedded embedded.Config
	// Prefix of all keys, such as /registry.
	Prefix string
	// Retention is how long history is kept. Negative: forever.
	Retention time.Duration
	// BeforeCompaction is called before history is removed. Nil: nothing is called.
	BeforeCompaction func(ctx context.Context)
	Logger           *slog.Logger
}

// Datastore is an open etcd with the storage layers over it.
type Datastore struct {
	config   Config
	client   *clientv3.Client
	embedded *embedded.Server // nil for a cluster
	backend  *etcd.Backend
	cache    *watchcache.Cache
	metrics  *metered.Recorder

	closeClient func() error // of a cluster; can be called more than once
}

// Open connects to the cluster or starts the embedded etcd. The caller must call Close.
func Open(ctx context.Context, config Config) (*Datastore, error) {
	d := &Datastore{config: config, metrics: metered.NewRecorder()}
	open := d.openEmbedded
	if len(config.Servers) > 0 {
		open = d.openCluster
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	if err := d.assemble(); err != nil {
		return nil, errors.Join(err, d.Close(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// assemble builds the layers over the client.
func (d *Datastore) assemble() error {
	config := etcd.Config{Client: d.client, Prefix: d.config.Prefix}
	if d.embedded != nil {
		config.LocalReads, config.Member = true, d.embedded
	}
	var err error
	if d.backend, err = etcd.New(config); err != nil {
		return err
	}
	d.cache, err = watchcache.New(watchcache.Config{Log: d.backend, Logger: d.config.Logger.With("component", "cache")})
	return err
}

// Catalog returns the storage settings of a catalog.
func (d *Datastore) Catalog() registry.CatalogConfig {
	config := registry.CatalogConfig{
		Storage: d.backend.Store, Wrap: d.metrics.Wrap, Cache: d.cache, MaxObjectBytes: clientMessageBytes,
	}
	if d.embedded != nil {
		config.MaxObjectBytes = embedded.MaxRequestBytes
	}
	return config
}

// Backend returns the storage of all keys below the prefix.
func (d *Datastore) Backend() *etcd.Backend { return d.backend }

// Client returns the etcd client, which Close closes.
func (d *Datastore) Client() *clientv3.Client { return d.client }

// ClientURLs returns the addresses at which an embedded etcd serves clients.
func (d *Datastore) ClientURLs() []string {
	if d.embedded == nil {
		return nil
	}
	return d.embedded.ClientURLs()
}

// Collectors returns the metrics of all layers.
func (d *Datastore) Collectors() []prometheus.Collector {
	return []prometheus.Collector{d.metrics, d.cache, etcd.NewSizes(d.client)}
}

// Ready returns nil if etcd answers. It also returns nil while an embedded etcd waits for disk
// space, since a restart of the server would not help; see SpaceProblem.
func (d *Datastore) Ready(ctx context.Context) error {
	err := d.backend.Ready(ctx)
	if err != nil && d.embedded != nil && d.embedded.SpaceProblem() != nil {
		return nil
	}
	return err
}

// SpaceProblem returns the reason for which etcd rejects writes for lack of space, or nil.
func (d *Datastore) SpaceProblem(ctx context.Context) error {
	if d.embedded != nil {
		return d.embedded.SpaceProblem()
	}
	return etcd.SpaceProblem(ctx, d.client)
}

// Run feeds the watch cache and compacts the history until ctx ends, which is no error. It returns
// early with an error if the embedded etcd fails.
func (d *Datastore) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.cache.Run(ctx) })
	group.Go(func() error { return d.awaitEmbedded(ctx) })
	if d.config.Retention > 0 {
		compactor := etcd.NewCompactor(etcd.CompactorConfig{
			Client: d.client, Retention: d.config.Retention, BeforeCompaction: d.config.BeforeCompaction,
			Logger: d.config.Logger,
		})
		group.Go(func() error { return compactor.Run(ctx) })
	}
	return group.Wait()
}

func (d *Datastore) awaitEmbedded(ctx context.Context) error {
	if d.embedded == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-d.embedded.Done():
		return d.embedded.Err()
	}
}

// Close stops the embedded etcd, or closes the connection to the cluster.
func (d *Datastore) Close(ctx context.Context) error {
	if d.embedded != nil {
		return d.embedded.Close(ctx)
	}
	return d.closeClient()
}
