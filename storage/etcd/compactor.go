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

// compactRevKey is the key through which replicas agree who compacts. Its
// version counts the compactions, its value is the revision of the last one.
// kube-apiserver uses the same key, outside the prefix of the objects.
const compactRevKey = "compact_rev_key"

const defaultRetention = 5 * time.Minute

// CompactorConfig is what a Compactor needs. Only Client has no default.
type CompactorConfig struct {
	Client *clientv3.Client
	// Retention is for how long history is kept at the least; at the most it
	// is kept for twice as long. 5m by default.
	Retention time.Duration
	// Logger is told of compactions that failed, which are tried again. Nil:
	// nobody is.
	Logger *slog.Logger
}

// Compactor drops the history of etcd that is older than the retention. Any
// number of them, in any number of processes, may run on the same etcd: one of
// them does the work and another takes over if it stops.
type Compactor struct {
	cfg CompactorConfig

	// round is the version of compactRevKey when it was last looked at, and
	// revision that of the store. Only Run uses them.
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
			c.cfg.Logger.Warn("compaction failed, will be tried again", "error", err)
		}
	}
}

// compact plays one round: whoever raises the version of compactRevKey from
// the one it saw a period ago compacts to the revision it saw then. The others
// learn that this round is taken, and what to start from in the next.
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
		return fmt.Errorf("taking the round of %s: %w", compactRevKey, err)
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

// compactFull compacts an etcd that refuses all puts. It needs no agreement: to
// compact to a revision of a period ago is right for every replica and can be
// done twice.
func (c *Compactor) compactFull(ctx context.Context) error {
	revision := c.revision
	resp, err := c.cfg.Client.Get(ctx, compactRevKey)
	if err != nil {
		return fmt.Errorf("reading %s: %w", compactRevKey, err)
	}
	c.revision = resp.Header.Revision
	return c.compactTo(ctx, revision)
}

// compactTo drops the history before a revision; 0 is none.
func (c *Compactor) compactTo(ctx context.Context, revision int64) error {
	if revision == 0 {
		return nil // the first round has no revision of a period ago
	}
	if _, err := c.cfg.Client.Compact(ctx, revision); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compacting to revision %d: %w", revision, err)
	}
	return nil
}
