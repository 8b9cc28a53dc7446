package aggregator

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"path"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

const (
	// retryAfter is how long to wait before a watch is begun anew.
	retryAfter = 100 * time.Millisecond
	// settleTimeout is how long somebody waits for APIServices at most.
	settleTimeout = 5 * time.Second
	// manager is who writes the status of APIServices.
	manager = "kube-apiserver"
)

// Config is what an Aggregator is made of. The catalog must have the resources of
// APIServices, Services and EndpointSlices when it runs.
type Config struct {
	Catalog *registry.Catalog
	// Certificate is what other servers know this one by. Nil: nothing, and what
	// they are told about users is theirs to believe.
	Certificate func() (*tls.Certificate, error)
	// Logger takes what operators should know. Nil discards it.
	Logger *slog.Logger
}

// Aggregator keeps a catalog in step with the APIServices. Several may run on one
// store.
type Aggregator struct {
	config Config

	mu sync.Mutex // guards what follows
	// known are the APIServices that have been seen, by name.
	known map[string]*known
	// changed is closed when known has changed.
	changed chan struct{}
}

// known is what has become of an APIService.
type known struct {
	// revision of it that was seen last.
	revision int64
	// server that it names; nil where that is this one.
	server *server
}

// New returns an aggregator. It starts nothing.
func New(config Config) *Aggregator {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Aggregator{config: config, known: map[string]*known{}, changed: make(chan struct{})}
}

// Run follows the APIServices until ctx ends, which is no error.
func (a *Aggregator) Run(ctx context.Context) error {
	ctx = asServer(ctx)
	var servers sync.WaitGroup
	defer servers.Wait()
	for ctx.Err() == nil {
		err := a.follow(ctx, &servers)
		if ctx.Err() != nil {
			break
		}
		a.config.Logger.WarnContext(ctx, "aggregator: APIServices are read anew", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// asServer returns a context in which this server itself asks.
func asServer(ctx context.Context) context.Context {
	return registry.WithUser(ctx, &authenticationv1.UserInfo{Username: "system:apiserver", Groups: []string{"system:masters"}})
}

// Settle returns when every APIService that was there before the call has been
// looked at, or ctx ends. Whether the server behind one answers is found out
// later.
func (a *Aggregator) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	store, err := a.store(apiregistrationv1.Resource("apiservices"))
	if err != nil {
		return
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		return
	}
	for {
		a.mu.Lock()
		changed := a.changed
		lags := a.lags(page)
		a.mu.Unlock()
		if !lags {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// lags tells whether a state is still ahead of what is known. It is called with mu
// held.
func (a *Aggregator) lags(page *storage.Page) bool {
	there := make(map[string]bool, len(page.Entries))
	for _, entry := range page.Entries {
		name := path.Base(entry.Key)
		there[name] = true
		if k := a.known[name]; k == nil || k.revision < entry.Revision {
			return true
		}
	}
	for name, k := range a.known {
		if !there[name] && k.revision <= page.Revision {
			return true
		}
	}
	return false
}

func (a *Aggregator) store(name schema.GroupResource) (*registry.Store, error) {
	store, ok := a.config.Catalog.Snapshot().Store(name)
	if !ok {
		return nil, errors.New("the catalog has no " + name.String())
	}
	return store, nil
}
