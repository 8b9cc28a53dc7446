package aggregator

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
)

// fieldManager of the writes to APIServices, as in kube-apiserver.
const fieldManager = "kube-apiserver"

var apiServices = apiregistrationv1.Resource("apiservices")

// Config configures an Aggregator.
type Config struct {
	// Catalog must have the resources of APIServices, Services and EndpointSlices when the
	// aggregator runs.
	Catalog *registry.Catalog
	// Certificate returns the client certificate for connections to other servers. Nil: none, and
	// the other servers cannot verify the user headers.
	Certificate func() (*tls.Certificate, error)
	// Outgoing limits the addresses of other servers. Nil: all are allowed.
	Outgoing *outgoing.Policy
	// Logger is for operators. Nil discards its output.
	Logger *slog.Logger
}

// Aggregator keeps the remote group versions of a catalog in sync with the APIServices. Several
// aggregators may run on one store.
type Aggregator struct {
	config   Config
	services *informer.Informer
	running  sync.WaitGroup // the goroutines of servers

	mu sync.Mutex // guards servers and their publication in the catalog
	// servers by the name of their APIService.
	servers map[string]*server
}

// New returns an aggregator. It starts nothing.
func New(config Config) *Aggregator {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	a := &Aggregator{config: config, servers: map[string]*server{}}
	a.services = a.newInformer(apiServices, registry.ListRequest{}, a.handle)
	return a
}

// Run handles the APIServices until ctx ends, and returns nil then.
func (a *Aggregator) Run(ctx context.Context) error {
	defer a.running.Wait()
	return a.services.Run(ctx)
}

// Sync blocks until every change of an APIService before the call is handled. The availability of
// the servers may be checked later. Run must be running.
func (a *Aggregator) Sync(ctx context.Context) error { return a.services.Sync(ctx) }

// Handler returns the proxy to the server of a remote group version, and false if there is none. It
// finds every remote group version of the current snapshot of the catalog.
func (a *Aggregator) Handler(gv schema.GroupVersion) (http.Handler, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	server, ok := a.servers[gv.Version+"."+gv.Group]
	return server, ok
}

// Transport returns the connection to the server of a remote group version, and false if there is
// none. Requests need a path only. Their user is in their context; see [registry.WithUser].
func (a *Aggregator) Transport(gv schema.GroupVersion) (http.RoundTripper, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	server, ok := a.servers[gv.Version+"."+gv.Group]
	return server, ok
}

func (a *Aggregator) newInformer(resource schema.GroupResource, selection registry.ListRequest, handle func(context.Context, informer.Change)) *informer.Informer {
	return informer.New(informer.Config{
		Resource: resource, Lookup: a.config.Catalog.Store, Selection: selection, Handle: handle, Logger: a.config.Logger,
	})
}

// notify sends to changed, which has a buffer of one, after changes of the selected objects. It
// runs until ctx ends.
func (a *Aggregator) notify(ctx context.Context, resource schema.GroupResource, selection registry.ListRequest, changed chan<- struct{}) {
	_ = a.newInformer(resource, selection, func(context.Context, informer.Change) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}).Run(ctx)
}

func (a *Aggregator) store(name schema.GroupResource) (*registry.Store, error) {
	store, ok := a.config.Catalog.Store(name)
	if !ok {
		return nil, fmt.Errorf("the catalog has no %s", name)
	}
	return store, nil
}
