package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/datadir"

	"github.com/miniapi/miniapi/internal/zaplog"
)

// instance is one run of etcd on the data directory. A server has one, and
// another after the first has run out of disk space.
type instance struct {
	guard   *guard
	front   *front
	etcd    *etcdserver.EtcdServer
	client  *clientv3.Client // calls etcd directly
	space   *space
	trimmer *trimmer
	// upkeep is the work on the database beside etcd's own; cancel ends it.
	upkeep sync.WaitGroup
	cancel context.CancelFunc
}

func newInstance() *instance {
	return &instance{guard: newGuard(), front: &front{}, cancel: func() {}}
}

// start returns when etcd is ready. An instance that has not started must be
// stopped, too.
func (i *instance) start(ctx context.Context, cfg Config, dir *dataDir) error {
	logger := zaplog.New(cfg.Logger, append(i.guard.options(), demoted())...)
	member := memberConfig(cfg, i.front.urls(), logger)
	member.DataDir, member.UnsafeNoFsync = dir.path, cfg.UnsafeNoFsync || cfg.temporary()
	err := i.guard.call(func() error {
		if err := dir.check(ctx); err != nil {
			return err
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
	i.space = newSpace(i.etcd, cfg.Logger)
	i.trimmer = newTrimmer(datadir.ToWALDir(dir.path), cfg.Logger)
	i.client = newClient(i.etcd, i.space, i.trimmer)
	i.maintain()
	i.front.serve(i.etcd)
	return nil
}

// awaitReady waits until the member has elected itself and applied its first
// entry.
func (i *instance) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	select {
	case <-i.etcd.ReadyNotify():
		return nil
	case <-i.guard.failed:
		return i.failure()
	case <-i.etcd.StopNotify():
		return errStopped
	case <-ctx.Done():
		return fmt.Errorf("wait until etcd is ready: %w", ctx.Err())
	}
}

// maintain starts the upkeep of the database, with a first round if it is full.
func (i *instance) maintain() {
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.upkeep.Go(func() { i.space.run(ctx) })
	i.upkeep.Go(func() { i.trimmer.run(ctx) })
	if i.space.alarmed() {
		i.space.request()
	}
}

// hasFailed reports that etcd has given up. It must not be called any more then,
// for it may hold all of its locks.
func (i *instance) hasFailed() bool {
	select {
	case <-i.guard.failed:
		return true
	default:
		return false
	}
}

// failure returns why etcd has given up.
func (i *instance) failure() error { return fmt.Errorf("embedded etcd gave up: %w", i.guard.err) }

// stop ends all parts in the reverse order of their start. It returns without the
// parts that do not end in time.
func (i *instance) stop() error {
	i.front.close()
	i.cancel()
	if i.etcd == nil {
		return nil
	}
	timeout, stopped := stopTimeout, make(chan struct{})
	if i.hasFailed() {
		timeout = giveUpTimeout
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
	case i.hasFailed(): // closing the client may take for ever, as may the upkeep
		go i.client.Close()
	default:
		// Its error is that its own context has just been ended.
		_ = i.client.Close()
		i.upkeep.Wait()
	}
	i.etcd.Stop()
}
