package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// readyTimeout limits the wait for the member's own election and first commit, which take
	// milliseconds.
	readyTimeout = time.Minute
	// stopTimeout limits the wait for etcd's goroutines, which end in milliseconds. giveUpTimeout
	// is the limit for an etcd that has given up, whose goroutines may deadlock.
	stopTimeout   = time.Minute
	giveUpTimeout = time.Second
)

// Server is a running etcd. Its methods are safe for concurrent use.
type Server struct {
	cfg    Config
	dir    *dataDir
	urls   []string
	client *clientv3.Client
	// revision is the highest revision returned to a client.
	revision atomic.Int64

	mu sync.Mutex // guards instance and restarted
	// instance is never nil. restarted is closed when the instance is replaced.
	instance  *instance
	restarted chan struct{}

	done chan struct{} // closed when etcd has ended; err is set before
	err  error

	// stopping is cancelled before etcd is stopped.
	stopping context.Context
	stop     context.CancelFunc
	closing  sync.Once
	closed   chan struct{} // closed when everything is released; closeErr is set before
	closeErr error
}

// Start starts a single-member etcd and returns when it is ready. A start that fails stops what it
// started and removes what it created. The context limits the start, not the lifetime of the
// server.
//
// Errors: ErrInUse, ErrForeign and ErrCorrupt for the data directory or the snapshot, and errors of
// the operating system.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("start embedded etcd: %w", err)
	}
	setPackageVariables()
	s := &Server{
		cfg: cfg.withDefaults(), dir: &dataDir{}, instance: newInstance(), restarted: make(chan struct{}),
		done: make(chan struct{}), closed: make(chan struct{}),
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	if err := s.start(ctx); err != nil {
		s.stop()
		return nil, fmt.Errorf("start embedded etcd: %w", errors.Join(err, s.instance.stop(), s.dir.close()))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) (err error) {
	if s.instance.clientServer, err = listen(s.cfg.ListenClientURLs); err != nil {
		return err
	}
	s.urls = s.instance.clientServer.urls().StringSlice()
	if s.dir, err = openDataDir(s.cfg.DataDir); err != nil {
		return err
	}
	if s.cfg.Snapshot != "" {
		if err := s.dir.restore(ctx, s.cfg.Snapshot); err != nil {
			return err
		}
	}
	if err := s.instance.start(ctx, s.cfg, s.dir); err != nil {
		return err
	}
	s.dir.keep()
	s.client = newForwardingClient(s, s.instance.client)
	go s.supervise(s.instance) // ends with etcd
	return nil
}

// Client returns a client that calls the server without a connection. It ends with the server and
// needs no Close.
//
// Its writes wait for space in the database. If the error of a write wraps etcd's ErrNoSpace and
// is not that error itself, it describes the remedy, and the write was not sent.
func (s *Server) Client() *clientv3.Client { return s.client }

// ClientURLs returns the URLs for clients of other processes, with the ports in use. It is empty
// if there are none.
func (s *Server) ClientURLs() []string { return s.urls }

// Done is closed when the server has ended, by Close or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns why the server ended by itself: nil while it runs and after Close.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// SpaceProblem returns why writes are rejected for lack of space, and the remedy. It returns nil
// if they are not rejected or if space is being reclaimed. An error of ctx means that etcd does not
// answer.
func (s *Server) SpaceProblem(ctx context.Context) error {
	problem, err := callRunning(ctx, s, func(i *instance) (error, error) { return i.space.problem(), nil })
	if errors.Is(err, errRestarting) {
		return errDiskFull
	}
	return errors.Join(err, problem)
}

// Close stops the server and waits until it has ended or the context ends. In the latter case the
// stop continues, and Close may be called again to wait for it. All calls return the same error. A
// temporary directory is removed. Close takes one or two milliseconds. If the server had ended by
// itself, some goroutines may stay; that is an error.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() { go s.shutdown() }) // ends by itself, see stopTimeout
	select {
	case <-s.closed:
		return s.closeErr
	case <-ctx.Done():
		return fmt.Errorf("close embedded etcd: %w", ctx.Err())
	}
}

// supervise publishes the end of etcd, unless another instance can replace one that has given up.
func (s *Server) supervise(i *instance) {
	defer close(s.done)
	for {
		select {
		case <-i.etcd.StopNotify():
			if s.stopping.Err() == nil {
				s.err = errStopped
			}
			return
		case <-i.fatal.failed:
		}
		if !isDiskFull(i.fatal.err) {
			s.err = i.failure()
			return
		}
		next, err := s.restart(i)
		if next == nil {
			s.err = err
			return
		}
		i = next
	}
}

// current returns the latest instance, and a channel that is closed when that instance is
// replaced.
func (s *Server) current() (*instance, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.restarted
}

// running returns the instance, or an error if it has failed.
func (s *Server) running() (*instance, error) {
	i, _ := s.current()
	if i.hasFailed() {
		return nil, errDiskFull
	}
	return i, nil
}

func (s *Server) replace(next *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instance = next
	close(s.restarted)
	s.restarted = make(chan struct{})
}
