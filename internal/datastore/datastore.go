package datastore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/encryption"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/metered"
	"github.com/miniapi/miniapi/storage/stale"
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
	// ConnectTimeout is how long a cluster may take to answer the first requests. Default: 5 s.
	ConnectTimeout time.Duration
	// Embedded configures the embedded etcd.
	Embedded embedded.Config
	// Prefix of all keys, such as /registry.
	Prefix string
	// ReadOnly opens etcd without writing to it: every write fails, and nothing is compacted. It is
	// implied by Embedded.Snapshot.
	ReadOnly bool
	// Revision is the revision that all reads and watches of a read-only etcd see. 0: the latest
	// one.
	Revision int64
	// Encryption encrypts the values. Its Prefix and Logger are ignored. Nil: values are not
	// encrypted.
	Encryption *encryption.Config
	// Retention is how long history is kept. Negative: forever.
	Retention time.Duration
	// Failure returns the failure of etcd to simulate for a request. Nil: no request fails.
	Failure func(ctx context.Context) *etcd.Failure
	// BeforeCompaction is called before history is removed. Nil: nothing is called.
	BeforeCompaction func(ctx context.Context)
	// Clock is the time by which objects expire. Nil: the time of the machine.
	Clock  etcd.Clock
	Logger *slog.Logger
}

// Datastore is an open etcd with the storage layers over it.
type Datastore struct {
	config Config
	etcd   *clientv3.Client
	// client is etcd, or a read-only view of it.
	client   *clientv3.Client
	embedded *embedded.Server // nil for a cluster
	// revisions are the revisions that a read-only server can read, as far as known.
	revisions Revisions
	backend   *etcd.Backend
	memo      *storage.Memo
	cache     *watchcache.Cache
	metrics   *metered.Recorder
	// compactor runs if history has a retention.
	compactor *etcd.Compactor
	// encryption is nil if values are not encrypted.
	encryption *encryption.Encryption

	closeClient func() error // of a cluster; can be called more than once
}

// Open connects to the cluster or starts the embedded etcd. The caller must call Close.
func Open(ctx context.Context, config Config) (*Datastore, error) {
	d := &Datastore{config: config, metrics: metered.NewRecorder()}
	if err := d.openEncryption(ctx); err != nil {
		return nil, err
	}
	open := d.openEmbedded
	if len(config.Servers) > 0 {
		open = d.openCluster
	}
	if err := open(ctx); err != nil {
		return nil, errors.Join(err, d.closeEncryption())
	}
	d.client = d.etcd
	var err error
	if d.readOnly() {
		err = d.openView(ctx)
	}
	if err == nil {
		err = d.assemble()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(context.WithoutCancel(ctx)))
	}
	return d, nil
}

func (d *Datastore) readOnly() bool { return d.config.ReadOnly || d.config.Embedded.Snapshot != "" }

// assemble builds the layers over the client.
func (d *Datastore) assemble() error {
	config := etcd.Config{Client: d.client, Prefix: d.config.Prefix, Clock: d.config.Clock, Failure: d.config.Failure}
	if d.embedded != nil {
		config.LocalReads = true
		if !d.readOnly() { // a view has events that the member does not report
			config.Member = d.embedded
		}
	}
	switch {
	case d.encryption != nil:
		config.Transformer = d.encryption
	case d.readOnly():
		config.Transformer = withoutKeys{}
	}
	var err error
	if d.backend, err = etcd.New(config); err != nil {
		return err
	}
	d.compactor = etcd.NewCompactor(etcd.CompactorConfig{
		Client: d.client, Retention: d.config.Retention, BeforeCompaction: d.config.BeforeCompaction,
		Logger: d.config.Logger,
	})
	d.memo = storage.NewMemo(memory.ReadProcess().Share(storage.DefaultMemo))
	d.cache, err = watchcache.New(watchcache.Config{
		Log:    d.backend,
		Memo:   d.memo,
		Logger: d.config.Logger.With("component", "cache"),
	})
	return err
}

// Catalog returns the storage settings of a catalog.
func (d *Datastore) Catalog() registry.CatalogConfig {
	config := registry.CatalogConfig{
		Storage: d.backend.Store, Wrap: d.metrics.Wrap, Cache: holdableCache{d.cache}, MaxObjectBytes: clientMessageBytes,
	}
	if d.embedded != nil {
		config.MaxObjectBytes = embedded.MaxRequestBytes
	}
	return config
}

// holdableCache is a watch cache whose reads can be held, see package stale.
type holdableCache struct{ *watchcache.Cache }

// Store implements registry.Cache.
func (c holdableCache) Store(root string, codec storage.Codec, next storage.Interface) storage.Interface {
	return stale.Wrap(c.Cache.Store(root, codec, next))
}

// Backend returns the storage of all keys below the prefix.
func (d *Datastore) Backend() *etcd.Backend { return d.backend }

// AwaitCurrent waits until the watch cache has applied the present revision, and returns that
// revision.
func (d *Datastore) AwaitCurrent(ctx context.Context) (revision int64, err error) {
	return d.cache.AwaitCurrent(ctx)
}

// Changed returns a channel that is closed when the watch cache applies another revision.
func (d *Datastore) Changed() <-chan struct{} { return d.cache.Changed() }

// Client returns the etcd client, which Close closes. If the datastore is read-only, so is the
// client.
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
	collectors := []prometheus.Collector{d.metrics, d.cache, etcd.NewSizes(d.etcd)}
	if d.encryption != nil {
		collectors = append(collectors, d.encryption.Collector())
	}
	return collectors
}

// Ready returns nil if etcd answers. It also returns nil while an embedded etcd waits for disk
// space, since a restart of the server would not help; see SpaceProblem.
func (d *Datastore) Ready(ctx context.Context) error {
	err := d.backend.Ready(ctx)
	if err != nil && d.embedded != nil && d.embedded.SpaceProblem(ctx) != nil {
		return nil
	}
	return err
}

// WatchCacheLag waits until the watch cache has applied the present revision. It returns the reason
// if that does not happen before ctx ends.
func (d *Datastore) WatchCacheLag(ctx context.Context) error {
	revision, err := d.cache.AwaitCurrent(ctx)
	switch {
	case err == nil:
		return nil
	case revision == 0:
		return errors.New("etcd does not answer")
	}
	return fmt.Errorf("the watch cache has not applied revision %d of etcd", revision)
}

// SpaceProblem returns the reason for which etcd rejects writes for lack of space, or nil.
func (d *Datastore) SpaceProblem(ctx context.Context) error {
	if d.config.Failure != nil {
		if f := d.config.Failure(ctx); f != nil && f.NoSpace {
			return etcd.ErrFull
		}
	}
	if d.embedded != nil {
		return d.embedded.SpaceProblem(ctx)
	}
	return etcd.SpaceProblem(ctx, d.etcd)
}

// Expire compacts the history up to the present, so that all resourceVersions from before are too
// old for a watch or an exact list.
func (d *Datastore) Expire(ctx context.Context) error {
	revision, err := d.compactor.Expire(ctx)
	if err == nil {
		d.cache.Sync(ctx, revision)
	}
	return err
}

// Restore brings all keys to the state of a snapshot, see etcd.Backend.Restore. No later read of
// the watch cache is older.
func (d *Datastore) Restore(ctx context.Context, state *etcd.Snapshot, opts etcd.RestoreOptions) error {
	revision, err := d.backend.Restore(ctx, state, opts)
	if err == nil {
		d.cache.Sync(ctx, revision)
	}
	return err
}

// Run feeds the watch cache, probes KMS plugins and compacts the history until ctx ends, which is
// no error. It returns early with an error if the embedded etcd fails.
func (d *Datastore) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.cache.Run(ctx) })
	group.Go(func() error { return d.memo.Run(ctx) })
	group.Go(func() error { return d.awaitEmbedded(ctx) })
	if d.encryption != nil {
		group.Go(func() error { return d.encryption.Run(ctx) })
	}
	if d.config.Retention > 0 && !d.readOnly() {
		group.Go(func() error { return d.compactor.Run(ctx) })
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
	err := d.closeEncryption()
	if d.embedded != nil {
		return errors.Join(err, d.embedded.Close(ctx))
	}
	return errors.Join(err, d.closeClient())
}
