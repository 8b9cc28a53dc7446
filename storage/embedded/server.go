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
	cfg    Config
	dir    *dataDir
	urls   []string
	client *clientv3.Client
	// revision is the latest that was returned to a client.
	revision atomic.Int64

	mu sync.Mutex // guards what follows
	// instance is never nil. restarted is closed when another has taken its place.
	instance  *instance
	restarted chan struct{}

	done chan struct{} // closed when etcd has ended; err is set before
	err  error

	// stopping ends before etcd is told to stop.
	stopping context.Context
	stop     context.CancelFunc
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
	if s.instance.front, err = listen(s.cfg.ListenClientURLs); err != nil {
		return err
	}
	s.urls = s.instance.front.urls().StringSlice()
	if s.dir, err = openDataDir(s.cfg.DataDir); err != nil {
		return err
	}
	if err := s.instance.start(ctx, s.cfg, s.dir); err != nil {
		return err
	}
	s.dir.keep()
	s.client = newForwarder(s, s.instance.client)
	go s.watchOver(s.instance) // ends with etcd
	return nil
}

// Client returns a client that calls the server without a connection. It ends
// with the server and needs no Close.
//
// Its writes wait for room in the database. An error of one that wraps etcd's
// ErrNoSpace, other than that error itself, says what to do, and that the write
// was not sent.
func (s *Server) Client() *clientv3.Client { return s.client }

// ClientURLs returns where clients outside of this process can connect, with
// the ports that were really taken. Empty if there is no such place.
func (s *Server) ClientURLs() []string { return s.urls }

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

// SpaceProblem returns why writes are refused for lack of space and what to do,
// nil while they are not refused or room is being made.
func (s *Server) SpaceProblem() error {
	i, err := s.running()
	if err != nil {
		return err
	}
	return i.space.problem()
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

// watchOver publishes the end of etcd, unless another instance can take the place
// of one that has given up.
func (s *Server) watchOver(i *instance) {
	defer close(s.done)
	for {
		select {
		case <-i.etcd.StopNotify():
			if s.stopping.Err() == nil {
				s.err = errStopped
			}
			return
		case <-i.guard.failed:
		}
		if !isDiskFull(i.guard.err) {
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

// current returns the latest instance, and a channel that is closed when another
// instance replaces it.
func (s *Server) current() (*instance, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.restarted
}

// running returns the instance unless it has failed.
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
