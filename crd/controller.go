package crd

import (
	"context"
	"log/slog"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
)

// fieldManager of the writes to definitions, as in kube-apiserver.
const fieldManager = "kube-apiserver"

var definitions = apiextensionsv1.Resource("customresourcedefinitions")

// Config configures a Controller.
type Config struct {
	// Catalog must have the resource of CustomResourceDefinitions when the controller runs.
	Catalog *registry.Catalog
	// Resolve returns the addresses of the Services of conversion webhooks.
	Resolve webhooks.ResolveFunc
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Offline is set if conversion webhooks must not be called: an object in another version than
	// the one it is stored in is an error.
	Offline bool
	// Logger is for operators. Nil discards its output.
	Logger *slog.Logger
}

// Controller serves the resources of CustomResourceDefinitions. Several controllers may run on one
// store: they reach the same results. With a read-only catalog it serves the definitions by the
// status that it would write.
type Controller struct {
	config      Config
	webhooks    *webhooks.Clients // for conversion
	definitions *informer.Informer
	cleanups    sync.WaitGroup
	// registrations are the known definitions by name. Only calls of handle use them.
	registrations map[string]*registration
}

// NewController returns a controller. It starts nothing.
func NewController(config Config) *Controller {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Controller{
		config: config, webhooks: webhooks.NewClients(config.Resolve, config.Outgoing, nil), registrations: map[string]*registration{},
	}
	c.definitions = informer.New(informer.Config{
		Resource: definitions, Lookup: config.Catalog.Store, Handle: c.handle, Logger: config.Logger,
	})
	return c
}

// Run serves definitions until ctx ends, and returns nil then.
func (c *Controller) Run(ctx context.Context) error {
	defer c.cleanups.Wait()
	defer c.Close()
	return c.definitions.Run(ctx)
}

// Close ends the calls of conversion webhooks. Their callers, and all later ones, get an error.
func (c *Controller) Close() { c.webhooks.Close() }

// clients returns the clients of conversion webhooks, nil if the webhooks are not called.
func (c *Controller) clients() *webhooks.Clients {
	if c.config.Offline {
		return nil
	}
	return c.webhooks
}

// Sync blocks until the catalog serves every definition stored before the call, and no definition
// deleted before it. Run must be running.
func (c *Controller) Sync(ctx context.Context) error { return c.definitions.Sync(ctx) }
