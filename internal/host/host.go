package host

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// DefaultIdleTimeout is how long a host without servers lives.
const DefaultIdleTimeout = 5 * time.Minute

// DefaultKeptIdleTimeout is how long a kept server lives without requests.
const DefaultKeptIdleTimeout = 30 * time.Minute

// DefaultMaxServers is the number of servers that a host runs at the same time.
const DefaultMaxServers = 1000

// shutdownTimeout bounds the end of the control API after the servers have stopped.
const shutdownTimeout = 2 * time.Second

// reachableInterval is how often a host checks that clients can reach it.
const reachableInterval = 2 * time.Second

// Config of a Host. The zero value is a host without a token, for a unix socket.
type Config struct {
	// Token is the bearer token that requests must carry. Default: none is required.
	Token string
	// IdleTimeout is how long a host without servers lives. Default: DefaultIdleTimeout;
	// negative: without limit.
	IdleTimeout time.Duration
	// KeptIdleTimeout is how long a kept server lives without requests. Default:
	// DefaultKeptIdleTimeout.
	KeptIdleTimeout time.Duration
	// MaxServers is the number of servers that run at the same time. Default: DefaultMaxServers;
	// negative: without limit.
	MaxServers int
	// Reachable reports whether clients can still connect. A host without servers ends when it
	// returns false, for example because its socket was removed. Default: true.
	Reachable func() bool
	// Logger logs the starts and stops of servers. Default: none.
	Logger *slog.Logger
}

// Host manages servers. Its methods are safe for concurrent use.
type Host struct {
	config Config
	idle   *idleTimer

	mu      sync.Mutex // guards the fields below
	servers map[string]*server
	added   int // number of servers, those that start or stop included
	nextID  int
	closed  bool // no server can be added any more
}

// New returns a host that does nothing until Run.
func New(config Config) *Host {
	if config.IdleTimeout == 0 {
		config.IdleTimeout = DefaultIdleTimeout
	}
	if config.KeptIdleTimeout == 0 {
		config.KeptIdleTimeout = DefaultKeptIdleTimeout
	}
	if config.MaxServers == 0 {
		config.MaxServers = DefaultMaxServers
	}
	if config.Reachable == nil {
		config.Reachable = func() bool { return true }
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Host{config: config, idle: newIdleTimer(config.IdleTimeout), servers: map[string]*server{}}
}

// Run serves the control API on the listener, which it closes, until ctx ends or the host has
// been idle for its idle timeout; both return nil. It stops all servers before it returns.
func (h *Host) Run(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := &http.Server{Handler: h.handler(), ReadHeaderTimeout: 10 * time.Second}
	var group errgroup.Group
	group.Go(func() error {
		defer cancel()
		if err := api.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		h.awaitEnd(ctx)
		stopped := h.stopAll()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if api.Shutdown(ctx) != nil { // a client does not read its answer
			return errors.Join(stopped, api.Close())
		}
		return stopped
	})
	return group.Wait()
}

// awaitEnd returns when ctx has ended, or when the host has no server and either its idle timeout
// is over or no client can reach it. No server can be added then.
func (h *Host) awaitEnd(ctx context.Context) {
	ticker := time.NewTicker(reachableInterval)
	defer ticker.Stop()
	for {
		reason := "it had no server for " + h.config.IdleTimeout.String()
		select {
		case <-ctx.Done():
			return
		case <-h.idle.expired():
		case <-ticker.C:
			if h.config.Reachable() {
				continue
			}
			reason = "no client can reach it"
		}
		if h.closeIfIdle() {
			h.config.Logger.Info("the host ends", "reason", reason)
			return
		}
	}
}

// closeIfIdle rejects new servers from now on and returns true, unless the host has a server.
func (h *Host) closeIfIdle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.idle.busy() {
		return false
	}
	h.closed = true
	return true
}

// stopAll rejects new servers and stops the existing ones.
func (h *Host) stopAll() error {
	h.mu.Lock()
	h.closed = true
	var group errgroup.Group
	for _, s := range h.servers {
		group.Go(s.stop)
	}
	h.mu.Unlock()
	return group.Wait()
}
