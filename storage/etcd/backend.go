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

// Config configures a Backend. Only Client has no default.
type Config struct {
	// Client is the client of etcd. The caller closes it after every watch has ended. A gRPC
	// client should be dialed with [AtMostOnce].
	Client *clientv3.Client
	// Prefix is the prefix of all keys, with a leading slash and no trailing one. Default:
	// "/registry".
	Prefix string
	// Transformer transforms the stored bytes. Default: transform.Identity.
	Transformer transform.Transformer
	// LocalReads states that the client's member is the only one and runs in this process. A read
	// from its memory then sees every acknowledged write, so reads do not need the quorum.
	LocalReads bool
	// Member is the member in this process. Revisions and the log then come from it directly. Nil:
	// they come through the client.
	Member Member
	// PageSize is the maximum number of keys in one read of etcd. Large values reduce the number.
	// Default: 10000.
	PageSize int64
	// ProgressInterval is the interval at which a watch with ProgressNotify requests the progress
	// of etcd. Default: 5s.
	ProgressInterval time.Duration
	// Clock is the time by which keys expire. Default: the time of the machine.
	Clock Clock
	// Failure returns the failure to simulate for a request, nil for none. Nil: no request fails.
	Failure func(ctx context.Context) *Failure
	// WatchBacklog is the number of bytes of events that all watches queue for slow consumers, a
	// 16th of it at most for one watch. A watch that exceeds it reads no more from etcd until its
	// consumer has received the queued events. Default: 32 MiB.
	WatchBacklog int64
}

// Member is an etcd in this process. It may be restarted.
type Member interface {
	// Rev returns the revision up to which all writes are applied. It never decreases. It returns
	// an error if ctx ends before.
	Rev(ctx context.Context) (int64, error)
	// Store returns the store, and a channel that is closed when the store must not be used any
	// more. During a restart it waits for the end of the restart.
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
	if c.Clock == nil {
		c.Clock = machineClock{}
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

// Validate returns all errors of the configuration, nil if it is valid.
func (c Config) Validate() error {
	var errs []error
	if c.Client == nil {
		errs = append(errs, errors.New("Client: must be set"))
	}
	if c.Prefix != "" && (!strings.HasPrefix(c.Prefix, "/") || strings.HasSuffix(c.Prefix, "/")) {
		errs = append(errs, fmt.Errorf("Prefix %q: must begin with a slash and not end in one", c.Prefix))
	}
	if c.PageSize < 0 {
		errs = append(errs, fmt.Errorf("PageSize %d: must not be negative", c.PageSize))
	}
	if c.ProgressInterval < 0 {
		errs = append(errs, fmt.Errorf("ProgressInterval %v: must not be negative", c.ProgressInterval))
	}
	if c.WatchBacklog < 0 {
		errs = append(errs, fmt.Errorf("WatchBacklog %d: must not be negative", c.WatchBacklog))
	}
	return errors.Join(errs...)
}

// Backend is the shared part of the stores of all resources. It is safe for concurrent use and
// needs no Close.
type Backend struct {
	cfg    Config
	client *clientv3.Client
	kv     clientv3.KV // of client, with simulated failures
	leases *leasePool
	fence  *fence
	// lastOldest is the last result of oldest.
	lastOldest atomic.Int64
	// known is the highest revision that the Backend has seen.
	known atomic.Int64
	// unreadable is closed when the values that the log could not read may have become readable.
	// Nil: it has read all values.
	unreadable atomic.Pointer[<-chan struct{}]
	backlogs   backlogLimit
}

// New returns a backend. It starts no goroutine and sends no request.
func New(cfg Config) (*Backend, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("etcd storage: %w", err)
	}
	cfg = cfg.withDefaults()
	b := &Backend{
		cfg: cfg, client: cfg.Client, kv: cfg.Client,
		fence:    newFence(cfg.Prefix + fenceKey),
		backlogs: backlogLimit{bytes: cfg.WatchBacklog},
	}
	leases := clientv3.Lease(cfg.Client)
	if cfg.Failure != nil {
		b.kv, leases = failingKV{b.kv, cfg.Failure}, failingLease{leases, cfg.Failure}
	}
	b.kv = tracedKV{b.kv}
	b.leases = newLeasePool(leases, cfg.Clock)
	return b, nil
}

// Store returns the store of one resource, whose objects codec encodes.
func (b *Backend) Store(codec storage.Codec) storage.Interface {
	v := versioner.APIObjectVersioner{}
	return &resourceStore{Backend: b, codec: codec, versioner: v, decoder: storage.NewDecoder(codec, v)}
}

// learnRevision records a revision of the store.
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
		if err := b.failure(ctx).before(ctx, false); err != nil {
			return 0, readError("get", b.root(), err)
		}
		revision, err := b.cfg.Member.Rev(ctx)
		if err != nil {
			return 0, readError("get", b.root(), err)
		}
		return revision, nil
	}
	resp, err := b.kv.Get(ctx, b.root(), b.consistent(clientv3.WithCountOnly())...)
	if err != nil {
		return 0, readError("get", b.root(), err)
	}
	return resp.Header.Revision, nil
}

// Ready returns nil if etcd has a quorum and answers.
func (b *Backend) Ready(ctx context.Context) error {
	if _, err := b.kv.Get(ctx, b.root(), clientv3.WithCountOnly()); err != nil {
		return readError("get", b.root(), err)
	}
	return nil
}

// readOptions adds to opts the consistency of a read that requires a freshness. If any state is
// fresh enough, the member answers from its memory.
func (b *Backend) readOptions(fresh storage.Freshness, opts ...clientv3.OpOption) []clientv3.OpOption {
	if fresh == (storage.Freshness{}) {
		return append(opts, clientv3.WithSerializable())
	}
	return b.consistent(opts...)
}

// consistent adds to opts the consistency of a read that sees every acknowledged write. With
// LocalReads that is a read from the memory of the member.
func (b *Backend) consistent(opts ...clientv3.OpOption) []clientv3.OpOption {
	if b.cfg.LocalReads {
		opts = append(opts, clientv3.WithSerializable())
	}
	return opts
}
