package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/internal/zaplog"
)

const (
	// readyTimeout bounds the wait for the member's own election and first
	// commit, which are a matter of milliseconds.
	readyTimeout = time.Minute
	// stopTimeout bounds the wait for etcd's goroutines, which end in
	// milliseconds too. giveUpTimeout is the same for an etcd that has given
	// up, where they may wait for each other for ever.
	stopTimeout   = 10 * time.Second
	giveUpTimeout = time.Second
)

// Server is a running etcd. Its methods are safe for concurrent use.
type Server struct {
	guard   *guard
	dir     *dataDir
	front   *front
	etcd    *etcdserver.EtcdServer
	client  *clientv3.Client
	space   *space
	trimmer *trimmer
	// upkeep is the work on the database beside etcd's own; cancel ends it.
	upkeep sync.WaitGroup
	cancel context.CancelFunc

	done chan struct{} // closed when etcd has ended; err is set before
	err  error

	stopping atomic.Bool // before etcd is told to stop
	closing  sync.Once
	closed   chan struct{} // closed when all is cleared away; closeErr is set before
	closeErr error
}

// Start starts an etcd of a single member and returns when it is ready. A
// start that fails has stopped whatever ran and removed what it made. The
// context bounds the start, not the server's life.
//
// Errors: ErrInUse, ErrForeign and ErrCorrupt, about the data directory, and
// whatever the operating system says.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("start embedded etcd: %w", err)
	}
	shrink()
	s := &Server{
		guard: newGuard(), dir: &dataDir{}, front: &front{},
		done: make(chan struct{}), closed: make(chan struct{}), cancel: func() {},
	}
	if err := s.start(ctx, cfg.withDefaults()); err != nil {
		return nil, fmt.Errorf("start embedded etcd: %w", errors.Join(err, s.abort()))
	}
	return s, nil
}

// Client returns a client that calls the server without a connection. It ends
// with the server and needs no Close.
func (s *Server) Client() *clientv3.Client { return s.client }

// ClientURLs returns where clients outside of this process can connect, with
// the ports that were really taken. Empty if there is no such place.
func (s *Server) ClientURLs() []string { return s.front.urls().StringSlice() }

// Done is closed when the server has ended, by Close or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns why the server ended by itself: nil while it runs and after
// Close.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Close stops the server and waits for its end, or that of the context; it
// goes on then, and Close may be called again to wait for it. Every call
// returns the same. A temporary directory is removed. It takes a millisecond
// or two; of a server that ended by itself some goroutines may stay, which is
// an error.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() { go s.shutdown() }) // ends by itself, see stopTimeout
	select {
	case <-s.closed:
		return s.closeErr
	case <-ctx.Done():
		return fmt.Errorf("close embedded etcd: %w", ctx.Err())
	}
}

func (s *Server) start(ctx context.Context, cfg Config) (err error) {
	if s.front, err = listen(cfg.ListenClientURLs); err != nil {
		return err
	}
	if s.dir, err = openDataDir(cfg.DataDir); err != nil {
		return err
	}
	logger := zaplog.New(cfg.Logger, append(s.guard.options(), demoted())...)
	member := memberConfig(cfg, s.front.urls(), logger)
	member.DataDir, member.UnsafeNoFsync = s.dir.path, cfg.UnsafeNoFsync || cfg.temporary()
	err = s.guard.call(func() error {
		if err := s.dir.check(ctx); err != nil {
			return err
		}
		etcd, err := etcdserver.NewServer(member)
		if err == nil {
			etcd.Start()
			s.etcd = etcd
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("data directory %s: %w", s.dir.path, err)
	}
	go s.watchOver() // ends with etcd
	if err := s.awaitReady(ctx); err != nil {
		return err
	}
	s.dir.keep()
	s.space = newSpace(s.etcd, cfg.Logger)
	s.trimmer = newTrimmer(datadir.ToWALDir(s.dir.path), cfg.Logger)
	s.client = newClient(s.etcd, s.space, s.trimmer)
	s.maintain()
	s.front.serve(s.etcd)
	return nil
}

// awaitReady waits until the member has elected itself and applied its first
// entry.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	select {
	case <-s.etcd.ReadyNotify():
		return nil
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("wait until etcd is ready: %w", ctx.Err())
	}
}

// maintain starts the upkeep of the database, with a first round if it is full.
func (s *Server) maintain() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.upkeep.Go(func() { s.space.run(ctx) })
	s.upkeep.Go(func() { s.trimmer.run(ctx) })
	if s.space.alarmed() {
		s.space.request()
	}
}

// watchOver publishes the end of etcd.
func (s *Server) watchOver() {
	select {
	case <-s.guard.failed:
		s.err = fmt.Errorf("embedded etcd gave up: %w", s.guard.err)
	case <-s.etcd.StopNotify():
		if !s.stopping.Load() {
			s.err = errStopped
		}
	}
	close(s.done)
}

// SpaceProblem returns why writes are refused for lack of space and what to do,
// nil while they are not refused or room is being made.
func (s *Server) SpaceProblem() error { return s.space.problem() }

// KV returns etcd's store. Its revision is that up to which everything is
// applied: no write was acknowledged, and nothing was read, that is not in it.
// It ends with the server.
func (s *Server) KV() mvcc.WatchableKV { return s.etcd.KV() }
