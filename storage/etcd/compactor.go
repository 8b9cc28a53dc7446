package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/versioner"
)

// compactRevKey is the key by which replicas elect the one that compacts. Its version is the number
// of compactions, its value the revision of the last one. kube-apiserver uses the same key, outside
// the prefix of the objects.
const compactRevKey = "compact_rev_key"

const defaultRetention = 5 * time.Minute

// CompactorConfig configures a Compactor. Only Client has no default.
type CompactorConfig struct {
	Client *clientv3.Client
	// Retention is the minimum age of history that is compacted. The maximum age of history is
	// twice as long. Default: 5m.
	Retention time.Duration
	// BeforeCompaction is called before history is removed. Nil: nothing is called.
	BeforeCompaction func(ctx context.Context)
	// Logger logs failed compactions, which are retried. Default: no logs.
	Logger *slog.Logger
}

// Compactor compacts the history of etcd that is older than the retention. Any number of compactors
// in any number of processes may run on the same etcd: one of them compacts, and another one takes
// over if it stops.
type Compactor struct {
	cfg CompactorConfig

	// round is the version of compactRevKey, and revision the revision of the store, at the last
	// round. Only Run uses them.
	round    int64
	revision int64
}

// NewCompactor returns a compactor. It starts nothing.
func NewCompactor(cfg CompactorConfig) *Compactor {
	if cfg.Retention <= 0 {
		cfg.Retention = defaultRetention
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Compactor{cfg: cfg}
}

// Run compacts once in each retention period until ctx ends, and returns nil
// then. It must not run twice at the same time.
func (c *Compactor) Run(ctx context.Context) error {
	ticks := time.NewTicker(c.cfg.Retention)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		if err := c.compact(ctx); err != nil && ctx.Err() == nil {
			c.cfg.Logger.Warn("compaction failed, retrying later", "error", err)
		}
	}
}

// compact runs one round of the election. The compactor that increments the version of
// compactRevKey from the value of the previous round compacts to the revision of that round. The
// other ones read the new version for the next round.
func (c *Compactor) compact(ctx context.Context) error {
	revision := c.revision
	done, err := c.cfg.Client.Do(ctx, clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.Version(compactRevKey), "=", c.round)},
		[]clientv3.Op{clientv3.OpPut(compactRevKey, versioner.Format(revision))},
		[]clientv3.Op{clientv3.OpGet(compactRevKey)},
	))
	if isNoSpace(err) {
		return c.compactFull(ctx)
	}
	if err != nil {
		return fmt.Errorf("increment %s: %w", compactRevKey, err)
	}
	resp := done.Txn()
	c.revision = resp.Header.Revision
	if !resp.Succeeded {
		c.round = 0
		if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			c.round = kvs[0].Version
		}
		return nil
	}
	c.round++
	return c.compactTo(ctx, revision)
}

// compactFull compacts an etcd that rejects all puts. It needs no election, because every replica
// may compact to the revision of its previous round, and a second compaction does no harm.
func (c *Compactor) compactFull(ctx context.Context) error {
	revision := c.revision
	resp, err := c.cfg.Client.Get(ctx, compactRevKey)
	if err != nil {
		return fmt.Errorf("read %s: %w", compactRevKey, err)
	}
	c.revision = resp.Header.Revision
	return c.compactTo(ctx, revision)
}

// Expire compacts the history up to the present and returns the revision of the compaction. It
// writes before, so that no resourceVersion that a client can have is left: not even the latest.
func (c *Compactor) Expire(ctx context.Context) (revision int64, err error) {
	for range 2 { // a watch begins one revision after its resourceVersion
		resp, err := c.cfg.Client.Put(ctx, compactRevKey, versioner.Format(revision))
		if err != nil {
			return 0, fmt.Errorf("write %s: %w", compactRevKey, err)
		}
		revision = resp.Header.Revision
	}
	return revision, c.compactTo(ctx, revision)
}

// compactTo compacts the history before a revision. It does nothing for revision 0.
func (c *Compactor) compactTo(ctx context.Context, revision int64) error {
	if revision == 0 {
		return nil // the first round has no previous one
	}
	if c.cfg.BeforeCompaction != nil {
		c.cfg.BeforeCompaction(ctx)
	}
	if _, err := c.cfg.Client.Compact(ctx, revision); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact to revision %d: %w", revision, err)
	}
	return nil
}
