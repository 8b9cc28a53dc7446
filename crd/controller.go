package crd

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

const (
	// retryAfter is how long to wait before a failure is tried again.
	retryAfter = 100 * time.Millisecond
	// retryRefusedAfter is the same for writes, which admission may refuse for
	// long.
	retryRefusedAfter = time.Second
	// settleTimeout is how long somebody waits for definitions at most.
	settleTimeout = 5 * time.Second
	// manager is who writes the status of definitions.
	manager = "kube-apiserver"
)

// Config is what a Controller is made of. The catalog must have the resource of
// CustomResourceDefinitions when the controller runs.
type Config struct {
	Catalog *registry.Catalog
	// Resolve finds the Services that conversion webhooks name.
	Resolve webhooks.ResolveFunc
	// Logger takes what operators should know. Nil discards it.
	Logger *slog.Logger
}

// Controller serves what CustomResourceDefinitions define. Several may run on
// one store: they come to the same results.
type Controller struct {
	config   Config
	webhooks *webhooks.Clients // that convert

	mu sync.Mutex // guards what follows
	// known are the definitions that have been seen, by name.
	known map[string]*known
	// reached is the revision up to which all events have been dealt with.
	reached int64
	// advanced is closed when reached has risen.
	advanced chan struct{}
}

// NewController returns a controller. It starts nothing.
func NewController(config Config) *Controller {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Controller{
		config: config, webhooks: webhooks.NewClients(config.Resolve),
		known: map[string]*known{}, advanced: make(chan struct{}),
	}
}

// Run follows the definitions until ctx ends, which is no error.
func (c *Controller) Run(ctx context.Context) error {
	ctx = registry.WithUser(ctx, &authenticationv1.UserInfo{Username: "system:apiserver", Groups: []string{"system:masters"}})
	var cleanups sync.WaitGroup
	defer cleanups.Wait()
	defer c.Close()
	for ctx.Err() == nil {
		err := c.follow(ctx, &cleanups)
		if ctx.Err() != nil {
			break
		}
		c.config.Logger.WarnContext(ctx, "custom resources: definitions are read anew", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// Close ends what conversion webhooks are being asked: who waits for that is told
// that it failed. No webhook is asked afterwards.
func (c *Controller) Close() { c.webhooks.Close() }

// Settle returns when everything that was defined before the call is served, or
// ctx ends.
func (c *Controller) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	store, err := c.store()
	if err != nil {
		return
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		return
	}
	var latest int64
	for _, entry := range page.Entries {
		latest = max(latest, entry.Revision)
	}
	c.await(ctx, latest)
}

// await returns when all events up to a revision have been dealt with, or ctx
// ends.
func (c *Controller) await(ctx context.Context, revision int64) {
	for {
		c.mu.Lock()
		reached, advanced := c.reached, c.advanced
		c.mu.Unlock()
		if reached >= revision {
			return
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return
		}
	}
}

// advance tells those who wait how far the controller is.
func (c *Controller) advance(revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision > c.reached {
		c.reached = revision
		close(c.advanced)
		c.advanced = make(chan struct{})
	}
}

func (c *Controller) store() (*registry.Store, error) {
	store, ok := c.config.Catalog.Snapshot().Store(apiextensionsv1.Resource("customresourcedefinitions"))
	if !ok {
		return nil, errors.New("the catalog has no CustomResourceDefinitions")
	}
	return store, nil
}

// follow returns why it cannot go on.
func (c *Controller) follow(ctx context.Context, cleanups *sync.WaitGroup) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	watcher, err := store.Watch(ctx, registry.ListRequest{SendInitialEvents: new(true), AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	f := follower{Controller: c, store: store, cleanups: cleanups, initial: map[string]bool{}}
	for {
		select {
		case event, ok := <-watcher.Events():
			if !ok {
				return errWatchEnded
			}
			if err := f.take(ctx, event); err != nil {
				return err
			}
			if f.initial == nil { // until then events come by name, not by revision
				f.advance(event.Revision)
			}
		case <-f.retry:
			return f.unwritten
		}
	}
}
