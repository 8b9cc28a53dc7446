package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/miniapi/miniapi/internal/zaplog"
)

// instance is one run of etcd on the data directory. A server starts another instance after one
// has failed because the disk was full.
type instance struct {
	fatal        *fatalHook
	clientServer *clientServer
	etcd         *etcdserver.EtcdServer
	client       *clientv3.Client         // calls etcd directly
	watches      etcdserverpb.WatchClient // calls etcd directly
	space        *spaceQuota
	purger       *walPurger
	// calls is read-locked by the calls in progress that may read the database, and guards stopped.
	// etcd closes its database when it stops, and a read of a closed database is a panic.
	calls   sync.RWMutex
	stopped bool
	// upkeep are the goroutines that maintain the database; cancel ends them.
	upkeep sync.WaitGroup
	cancel context.CancelFunc
	// campaigns is set if the member does not wait for ticks before its election.
	campaigns bool
	// giveUpTimeout limits the wait for an etcd that has given up.
	giveUpTimeout time.Duration
}

func newInstance() *instance {
	return &instance{fatal: newFatalHook(), clientServer: &clientServer{}, cancel: func() {}, giveUpTimeout: giveUpTimeout}
}

// start returns when etcd is ready. An instance must be stopped even if its start failed.
func (i *instance) start(ctx context.Context, cfg Config, dir *dataDir) error {
	logger := zaplog.New(cfg.Logger, append(i.fatal.options(), demoteHarmless())...)
	member := serverConfig(cfg, i.clientServer.urls(), logger)
	member.DataDir, member.UnsafeNoFsync = dir.path, cfg.UnsafeNoFsync || cfg.temporary()
	err := i.fatal.call(func() error {
		replayed, err := dir.check(ctx)
		if err != nil {
			return err
		}
		if i.campaigns = replayed <= keptEntries; !i.campaigns {
			member.TickMs = uint(shortTick.Milliseconds())
		}
		etcd, err := etcdserver.NewServer(member)
		if err == nil {
			etcd.Start()
			i.etcd = etcd
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir.path, err)
	}
	if err := i.awaitReady(ctx); err != nil {
		return err
	}
	i.space = newSpaceQuota(i.etcd, cfg)
	i.purger = newWALPurger(datadir.ToWALDir(dir.path), cfg.Logger)
	i.client = newClient(i.etcd, i.space, i.purger)
	i.watches = adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(i.etcd))
	i.maintain()
	i.clientServer.serve(i.etcd)
	return nil
}

// awaitReady waits until the member has elected itself and applied its first entry.
func (i *instance) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	retry := time.NewTicker(time.Millisecond)
	defer retry.Stop()
	for ctx.Err() == nil {
		i.campaign(ctx)
		select {
		case <-i.etcd.ReadyNotify():
			return nil
		case <-i.fatal.failed:
			return i.failure()
		case <-i.etcd.StopNotify():
			return errStopped
		case <-ctx.Done():
		case <-retry.C:
		}
	}
	return fmt.Errorf("wait until etcd is ready: %w", ctx.Err())
}

// campaign starts an election, which the only member wins at once. It sends the message by which a
// leader hands over its role. Raft ignores the message until the member has applied its own
// membership, and once there is a leader. If it were lost, the election would begin after
// electionTicks.
//
// Raft panics if it campaigns while etcd removes replayed entries from memory. So a member that
// replays more than keptEntries waits for ticks, as etcd does.
func (i *instance) campaign(ctx context.Context) {
	if !i.campaigns || i.etcd.Leader() != 0 {
		return
	}
	member := uint64(i.etcd.MemberID())
	_ = i.etcd.Process(ctx, &raftpb.Message{Type: raftpb.MsgTimeoutNow.Enum(), From: &member, To: &member})
}

// maintain starts the upkeep. If an alarm is active, space is reclaimed at once.
func (i *instance) maintain() {
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.upkeep.Go(func() { i.space.run(ctx) })
	i.upkeep.Go(func() { i.purger.run(ctx) })
	if i.space.alarmed() {
		i.space.request()
	}
}

// hasFailed reports whether etcd has given up. etcd must then not be called any more, because it
// may hold all of its locks.
func (i *instance) hasFailed() bool {
	select {
	case <-i.fatal.failed:
		return true
	default:
		return false
	}
}

// failure returns why etcd has given up.
func (i *instance) failure() error { return fmt.Errorf("embedded etcd gave up: %w", i.fatal.err) }

// beginCall begins a call that may read the database. It returns false if etcd stops. Otherwise the
// caller must call calls.RUnlock.
func (i *instance) beginCall() bool {
	i.calls.RLock()
	if i.stopped {
		i.calls.RUnlock()
		return false
	}
	return true
}

// endCalls waits for the calls in progress and rejects later ones.
func (i *instance) endCalls() {
	i.calls.Lock()
	defer i.calls.Unlock()
	i.stopped = true
}

// stop ends all parts in the reverse order of their start. It does not wait longer than a time
// limit for etcd.
func (i *instance) stop() error {
	i.clientServer.close()
	i.cancel()
	if i.etcd == nil {
		return nil
	}
	timeout, stopped := stopTimeout, make(chan struct{})
	if i.hasFailed() {
		timeout = i.giveUpTimeout
	}
	go i.stopEtcd(stopped) // ends with etcd
	select {
	case <-stopped:
		return nil
	case <-time.After(timeout):
		return fmt.Errorf("embedded etcd has not stopped within %v", timeout)
	}
}

func (i *instance) stopEtcd(stopped chan<- struct{}) {
	defer close(stopped)
	switch {
	case i.client == nil:
	case i.hasFailed(): // closing the client may block forever, and so may the upkeep
		go i.client.Close()
	default:
		// The error reports that its own context was cancelled.
		_ = i.client.Close()
		i.upkeep.Wait()
		i.endCalls()
	}
	i.etcd.Stop()
}
