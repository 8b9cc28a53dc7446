package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/transform"
	"github.com/miniapi/miniapi/versioner"
)

// Config is what a Backend needs. Only Client has no default.
type Config struct {
	// Client reaches etcd. It stays the caller's, who closes it after every
	// watch has ended. A client that speaks gRPC should be dialed with
	// [AtMostOnce].
	Client *clientv3.Client
	// Prefix goes before all keys: a leading slash and no trailing one.
	// "/registry" by default.
	Prefix string
	// Transformer changes the bytes at rest. Nil: they stay as they are.
	Transformer transform.Transformer
	// LocalReads says that the client's member is the only one and lives in
	// this process. A read from its memory then sees every acknowledged write,
	// so no read has to ask the quorum first.
	LocalReads bool
	// Member is the store of such a member: revisions and the log come from it
	// without a detour through the client. Nil: they go through the client.
	Member Member
	// PageSize is the greatest number of keys fetched from etcd at once,
	// 10000 by default. Fewer are fetched where values are large.
	PageSize int64
	// ProgressInterval is how often a watch with ProgressNotify asks how far
	// etcd has come. 5s by default.
	ProgressInterval time.Duration
	// WatchBacklog is how many bytes of events a watch keeps for a consumer
	// that is slow, 32 MiB by default. A watch that has more to keep ends with
	// the last of them, and its consumer can go on from there.
	WatchBacklog int
}

// Member is an etcd in this process, which may be restarted.
type Member interface {
	// Rev returns the revision up to which everything is applied. It is never less
	// than before.
	Rev() int64
	// Store returns the store, after a restart that is under way, and a channel
	// that is closed when the store must not be used any more.
	Store(ctx context.Context) (store mvcc.WatchableKV, gone <-chan struct{}, err error)
}

const (
	defaultPrefix           = "/registry"
	defaultPageSize         = 10000
	defaultProgressInterval = 5 * time.Second
	defaultWatchBacklog     = 32 << 20
)

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.Transformer == nil {
		c.Transformer = transform.Identity{}
	}
	if c.PageSize == 0 {
		c.PageSize = defaultPageSize
	}
	if c.ProgressInterval == 0 {
		c.ProgressInterval = defaultProgressInterval
	}
	if c.WatchBacklog == 0 {
		c.WatchBacklog = defaultWatchBacklog
	}
	return c
}

// Validate returns every fault of the configuration at once, nil if there is
// none.
func (c Config) Validate() error {
	var faults []error
	if c.Client == nil {
		faults = append(faults, errors.New("Client: must be set"))
	}
	if c.Prefix != "" && (!strings.HasPrefix(c.Prefix, "/") || strings.HasSuffix(c.Prefix, "/")) {
		faults = append(faults, fmt.Errorf("Prefix %q: must begin with a slash and not end in one", c.Prefix))
	}
	if c.PageSize < 0 {
		faults = append(faults, fmt.Errorf("PageSize %d: must not be negative", c.PageSize))
	}
	if c.ProgressInterval < 0 {
		faults = append(faults, fmt.Errorf("ProgressInterval %v: must not be negative", c.ProgressInterval))
	}
	if c.WatchBacklog < 0 {
		faults = append(faults, fmt.Errorf("WatchBacklog %d: must not be negative", c.WatchBacklog))
	}
	return errors.Join(faults...)
}

// Backend is what the stores of all resources share. It is safe for concurrent
// use and has nothing to close.
type Backend struct {
	cfg    Config
	client *clientv3.Client
	leases *leasePool
	fence  *fence
	// known is a revision that the store has reached.
	known atomic.Int64
}

// New returns a backend. It starts nothing and talks to nobody.
func New(cfg Config) (*Backend, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("etcd storage: %w", err)
	}
	cfg = cfg.withDefaults()
	return &Backend{cfg: cfg, client: cfg.Client, leases: newLeasePool(cfg.Client), fence: newFence(cfg.Prefix + fenceKey)}, nil
}

// Store returns the store of one resource, whose objects codec knows.
func (b *Backend) Store(codec storage.Codec) storage.Interface {
	v := versioner.APIObjectVersioner{}
	return &resourceStore{Backend: b, codec: codec, versioner: v, decoder: storage.NewDecoder(codec, v)}
}

// learnRevision notes a revision that the store has reached.
func (b *Backend) learnRevision(revision int64) {
	for {
		known := b.known.Load()
		if known >= revision || b.known.CompareAndSwap(known, revision) {
			return
		}
	}
}

// CurrentRevision implements storage.Log.
func (b *Backend) CurrentRevision(ctx context.Context) (int64, error) {
	if b.cfg.Member != nil {
		return b.cfg.Member.Rev(), nil
	}
	resp, err := b.client.Get(ctx, b.cfg.Prefix, b.consistent(clientv3.WithCountOnly())...)
	if err != nil {
		return 0, readError("get", b.cfg.Prefix, err)
	}
	return resp.Header.Revision, nil
}

// Ready returns nil if etcd has a quorum and answers.
func (b *Backend) Ready(ctx context.Context) error {
	if _, err := b.client.Get(ctx, b.cfg.Prefix, clientv3.WithCountOnly()); err != nil {
		return readError("get", b.cfg.Prefix, err)
	}
	return nil
}

// readOptions returns opts for a read whose answer must be fresh: any member answers from its
// memory if every state will do.
func (b *Backend) readOptions(fresh storage.Freshness, opts ...clientv3.OpOption) []clientv3.OpOption {
	if fresh == (storage.Freshness{}) {
		return append(opts, clientv3.WithSerializable())
	}
	return b.consistent(opts...)
}

// consistent returns opts for a read that sees every acknowledged write. With LocalReads that is
// any read.
func (b *Backend) consistent(opts ...clientv3.OpOption) []clientv3.OpOption {
	if b.cfg.LocalReads {
		opts = append(opts, clientv3.WithSerializable())
	}
	return opts
}
