package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/kubelet"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/internal/apitime"
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
	// Bootstrapped is set if the server creates the objects of a new kube-apiserver at its start.
	Bootstrapped bool
	// Shared is set if other servers may use the same storage.
	Shared bool
	// Remote returns the connection to the server of an aggregated group version, and false if
	// there is none. Nil: there are no aggregated APIs.
	Remote func(schema.GroupVersion) (http.RoundTripper, bool)
	// CA is the certificate authority of the server in PEM, nil without HTTPS.
	CA []byte
	// Clock is the time of the API. It is only needed to run the controllers.
	Clock *apitime.Clock
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
	activity   reconcile.Activity
	metrics    *reconcile.Metrics
}

// New returns the enabled controllers. It starts nothing.
func New(config Config) *Controllers {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Controllers{config: config, metrics: reconcile.NewMetrics()}
}

// Collector returns the metrics of the queues of the controllers.
func (c *Controllers) Collector() prometheus.Collector { return c.metrics }

// Run runs the controllers until ctx ends, and returns nil then. Without controllers it returns at
// once.
func (c *Controllers) Run(ctx context.Context) error {
	for {
		r := running{catalog: c.config.Catalog, controllers: c.controllers(), activity: &c.activity}
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

// Pending describes the work that the controllers have to do at present, one line for each queue,
// after the changes up to a revision. Keys that wait for a time are not work. changed is closed
// when the result may have changed.
func (c *Controllers) Pending(revision int64) (work []string, changed <-chan struct{}) {
	if len(selected(c.config.Enabled)) == 0 && c.config.Pods != PodsInstant {
		return nil, nil
	}
	return c.activity.Pending(revision)
}

// controllers returns new controllers.
func (c *Controllers) controllers() []reconcile.Controller {
	c.activity.Reset()
	config := reconcile.Config{
		Catalog: c.config.Catalog, Sync: c.config.Sync, Bootstrapped: c.config.Bootstrapped, Shared: c.config.Shared,
		Remote: c.config.Remote, CA: c.config.CA, Clock: c.config.Clock, Activity: &c.activity, Metrics: c.metrics, Logger: c.config.Logger,
	}
	var all []reconcile.Controller
	for _, enabled := range selected(c.config.Enabled) {
		all = append(all, enabled.make(config))
	}
	if c.config.Pods == PodsInstant {
		all = append(all, kubelet.New(config)...)
	}
	return all
}

// running holds running controllers.
type running struct {
	catalog     *registry.Catalog
	controllers []reconcile.Controller
	activity    *reconcile.Activity
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
func (r *running) report(changes []storage.Change, upTo int64, complete bool) {
	defer r.activity.Handled(upTo)
	if complete {
		r.activity.Lost()
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
