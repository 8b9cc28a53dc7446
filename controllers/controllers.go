package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/kubelet"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/internal/suggest"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// Config configures the controllers. Catalog is only needed to run them.
type Config struct {
	// Enabled lists the controllers to run in the syntax of kube-controller-manager, such as
	// "*,-garbagecollector". Nil: "*", all that are on by default.
	Enabled []string
	// Pods selects the lifecycle of pods. Default: PodsManual.
	Pods    PodsMode
	Catalog *registry.Catalog
	// Sync blocks until the catalog serves every kind that was defined before the call.
	Sync func(ctx context.Context) error
	// Shared is set if other servers may use the same storage.
	Shared bool
	// Remote returns the connection to the server of an aggregated group version, and false if
	// there is none. Nil: there are no aggregated APIs.
	Remote func(schema.GroupVersion) (http.RoundTripper, bool)
	// CA is the certificate authority of the server in PEM, nil without HTTPS.
	CA []byte
	// Logger reports failures, which are retried. Nil discards them.
	Logger *slog.Logger
}

// PodsMode selects the lifecycle of pods.
type PodsMode string

const (
	// PodsManual leaves pods as they are: a client binds them and writes their status.
	PodsManual PodsMode = "manual"
	// PodsInstant binds pods to nodes, and makes them ready, completed or terminated at once. No
	// container is executed.
	PodsInstant PodsMode = "instant"
)

func (m PodsMode) validate() error {
	switch m {
	case "", PodsManual, PodsInstant:
		return nil
	}
	return fmt.Errorf("pods %q is unknown: use manual or instant (--pods)%s", m, suggest.DidYouMean(string(m), []string{string(PodsManual), string(PodsInstant)}))
}

// Validate returns an error for unknown controllers and for an unknown mode of pods.
func (c Config) Validate() error { return errors.Join(validate(c.Enabled), c.Pods.validate()) }

// Controllers are the controllers of a server.
type Controllers struct {
	config     Config
	suspension suspension
}

// New returns the enabled controllers. It starts nothing.
func New(config Config) *Controllers {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Controllers{config: config}
}

// Run runs the controllers until ctx ends, and returns nil then. Without controllers it returns at
// once.
func (c *Controllers) Run(ctx context.Context) error {
	for {
		r := running{catalog: c.config.Catalog, controllers: c.config.controllers()}
		if len(r.controllers) == 0 {
			return nil
		}
		run, end, ok := c.suspension.begin(ctx)
		if !ok {
			return nil
		}
		err := r.run(run)
		end()
		if err != nil {
			return err
		}
	}
}

// controllers returns new controllers.
func (c Config) controllers() []reconcile.Controller {
	config := reconcile.Config{
		Catalog: c.Catalog, Sync: c.Sync, Shared: c.Shared, Remote: c.Remote, CA: c.CA, Logger: c.Logger,
	}
	var all []reconcile.Controller
	for _, enabled := range selected(c.Enabled) {
		all = append(all, enabled.make(config))
	}
	if c.Pods == PodsInstant {
		all = append(all, kubelet.New(config)...)
	}
	return all
}

// running holds running controllers.
type running struct {
	catalog     *registry.Catalog
	controllers []reconcile.Controller
}

// run runs the controllers until ctx ends.
func (r *running) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.catalog.Follow(ctx, r.report) })
	for _, controller := range r.controllers {
		group.Go(func() error { return controller.Run(ctx) })
	}
	return group.Wait()
}

// report passes changes to the controllers.
func (r *running) report(changes []storage.Change, complete bool) {
	if complete {
		for _, controller := range r.controllers {
			controller.Reset()
		}
	}
	snapshot := r.catalog.Snapshot()
	for _, change := range changes {
		location, located := snapshot.Locate(change.Key)
		for _, controller := range r.controllers {
			controller.Handle(reconcile.Change{Change: change, Location: location, Located: located})
		}
	}
}
