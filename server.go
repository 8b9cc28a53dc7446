package miniapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/miniapi/miniapi/admission/policy"
	"github.com/miniapi/miniapi/admission/webhook"
	"github.com/miniapi/miniapi/aggregator"
	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/auth/rbac"
	"github.com/miniapi/miniapi/crd"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/manifests"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/metered"
	"github.com/miniapi/miniapi/storage/watchcache"
)

const (
	// stopTimeout bounds Stop where the caller's context does not.
	stopTimeout = 10 * time.Second
	// closeTimeout is the part of that which is kept for closing the store, so that
	// a request which does not end leaves the data as they should be.
	closeTimeout = 3 * time.Second
	// syncTimeout bounds the time that a request waits for changes of the catalog.
	syncTimeout = 5 * time.Second
)

// Server is a running API server. Its methods are safe for concurrent use.
type Server struct {
	config Config
	plain  net.Listener     // nil without Config.Listen
	tls    net.Listener     // nil without Config.Secure
	secure *secureSide      // nil without Config.Secure
	rbac   *rbac.Authorizer // nil unless it decides
	// policies and webhooks say what they think of writes.
	policies *policy.Policies
	webhooks *webhook.Dispatcher
	catalog  *registry.Catalog
	custom   *crd.Controller
	others   *aggregator.Aggregator
	front    func() (*frontProxy, error) // made when it is first needed
	http     *http.Server
	conns    *connections
	api      *api.Server
	store    *store
	backend  *etcd.Backend
	cache    *watchcache.Cache
	folder   *manifests.Folder // nil without Config.Manifests

	// group owns every goroutine of the server; cancel ends them.
	group  *errgroup.Group
	cancel context.CancelFunc

	stop    sync.Once
	stopErr error
	done    chan struct{} // closed when nothing runs any more
}

// Start returns a server that answers requests, or an error and nothing left
// behind. ctx bounds the start only; Stop ends the server.
func Start(ctx context.Context, config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config.withDefaults(), front: sync.OnceValues(newFrontProxy), done: make(chan struct{})}
	for _, step := range []func(context.Context) error{s.listen, s.prepareTLS, s.openStore, s.build, s.seed, s.openManifests} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.release(context.WithoutCancel(ctx)))
		}
	}
	s.run()
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Server) openStore(ctx context.Context) error {
	opened, err := openStore(ctx, s.config)
	if err != nil {
		return err
	}
	s.store = opened
	return nil
}

func (s *Server) build(context.Context) error {
	backend, err := etcd.New(etcd.Config{
		Client:     s.store.client,
		Prefix:     s.config.EtcdPrefix,
		LocalReads: s.store.embedded != nil,
		Member:     s.store.member(),
	})
	if err != nil {
		return err
	}
	s.backend = backend
	s.cache, err = watchcache.New(watchcache.Config{Log: backend, Logger: s.config.Logger.With("component", "cache")})
	if err != nil {
		return err
	}
	recorder := metered.NewRecorder()
	config := registry.CatalogConfig{
		Storage: backend.Store, Wrap: recorder.Wrap, Cache: s.cache, Types: kinds.Types(),
		MaxObjectBytes: s.store.maxObjectBytes(), Logger: s.config.Logger.With("component", "registry"),
	}
	s.policies = policy.New(policy.Config{
		Store: s.storeOf, Logger: s.config.Logger.With("component", "policies"), Sync: s.settle,
	})
	s.webhooks = webhook.New(webhook.Config{
		Store: s.storeOf, Resolve: s.resolver(), Logger: s.config.Logger.With("component", "webhooks"),
	})
	s.accessControl(&config)
	if config.Hooks, err = s.hooks(); err != nil {
		return err
	}
	s.catalog = registry.NewCatalog(config)
	if err := s.catalog.Add(kinds.Resources()...); err != nil {
		return err
	}
	s.custom = crd.NewController(crd.Config{
		Catalog: s.catalog,
		Resolve: s.resolver(),
		Logger:  s.config.Logger.With("component", "custom resources"),
	})
	s.others = aggregator.New(aggregator.Config{
		Catalog: s.catalog, Certificate: s.showFrontProxy, Logger: s.config.Logger.With("component", "aggregator"),
	})
	s.api, err = api.New(api.Config{
		Catalog: s.catalog,
		Scheme:  kinds.Scheme(),
		Logger:  s.config.Logger,
		Version: KubernetesVersion(),
		Ready:   []api.Check{{Name: "etcd", Check: s.checkEtcd}},
		ReadyOnly: []api.Check{
			{Name: "storage-space", Check: s.store.spaceProblem, ShowReason: true},
		},

		Collectors:    []prometheus.Collector{recorder, s.cache, etcd.NewSizes(s.store.client)},
		Authenticator: s.authenticator(),
		OpenID:        s.openID(),
		Settle:        s.settle,

		MaxInFlight:         s.config.MaxRequestsInFlight,
		MaxMutatingInFlight: s.config.MaxMutatingRequestsInFlight,
	})
	if err != nil {
		return err
	}
	return s.buildHTTP()
}

// run starts what lives as long as the server.
func (s *Server) run() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.group, ctx = errgroup.WithContext(ctx)
	s.group.Go(func() error { return s.cache.Run(ctx) })
	s.group.Go(func() error { return s.catalog.Run(ctx) })
	s.group.Go(func() error { return s.policies.Run(ctx) })
	s.group.Go(func() error { return s.webhooks.Run(ctx) })
	s.group.Go(func() error { return s.custom.Run(ctx) })
	s.group.Go(func() error { return s.others.Run(ctx) })
	if s.config.Bootstrap == bootstrap.Full { // which has APIServices
		s.group.Go(func() error { return s.others.Register(ctx) })
	}
	if s.plain != nil {
		s.group.Go(func() error { return served(s.plain, s.http.Serve(s.plain)) })
	}
	if s.tls != nil {
		s.group.Go(func() error { return served(s.tls, s.http.ServeTLS(s.tls, "", "")) })
	}
	if s.rbac != nil {
		s.group.Go(func() error { return s.rbac.Run(ctx) })
	}
	if s.folder != nil {
		s.group.Go(func() error { return s.folder.Run(ctx) })
	}
	s.group.Go(func() error { return s.store.watch(ctx) })
	if s.config.CompactionInterval > 0 {
		compactor := etcd.NewCompactor(etcd.CompactorConfig{
			Client:    s.store.client,
			Retention: s.config.CompactionInterval,
			Logger:    s.config.Logger,
		})
		s.group.Go(func() error { return compactor.Run(ctx) })
	}
	// The server's own end, be it Stop or a failure, is one path.
	go func() {
		<-ctx.Done()
		s.Stop(context.Background())
	}()
}

// settle returns when the catalog has what was stored before the call.
func (s *Server) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for _, update := range []func(context.Context) error{s.custom.Sync, s.others.Sync} {
		if err := update(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "the catalog may be outdated", "error", err)
		}
	}
}

// EtcdClient is the client of the etcd behind the server, for looking at keys
// and revisions. It is closed by Stop.
func (s *Server) EtcdClient() *clientv3.Client { return s.store.client }

// EtcdClientURLs are the addresses at which the embedded etcd answers etcdctl.
func (s *Server) EtcdClientURLs() []string {
	if s.store.embedded == nil {
		return nil
	}
	return s.store.embedded.ClientURLs()
}

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server: open watches end cleanly, writes in flight finish, unless
// they wait for a conversion webhook, then everything is closed. It is idempotent, returns when all is over, and never
// takes longer than ctx or ten seconds. The error is that of a server which
// failed by itself, or of a stop that had to break something off.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		defer close(s.done)
		s.custom.Close()
		drained := s.drain(ctx)
		s.conns.drain(ctx)
		closed := s.http.Close()
		s.cancel()
		failed := s.group.Wait()
		s.stopErr = errors.Join(failed, drained, closed, s.release(ctx))
	})
	<-s.done
	return s.stopErr
}

// drain ends the requests. Those that do not end in time are broken off, and named
// in the error.
func (s *Server) drain(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	ctx, cancel := context.WithTimeout(ctx, left-min(closeTimeout, left/2))
	defer cancel()
	err := s.api.Shutdown(ctx)
	if err == nil {
		return nil
	}
	errs := []error{fmt.Errorf("the server stopped while requests were open: %w", err)}
	for _, open := range s.api.OpenRequests() {
		errs = append(errs, errors.New(open.String()))
	}
	return errors.Join(errs...)
}

// release closes what was opened; it copes with a server that was never
// completed.
func (s *Server) release(ctx context.Context) error {
	var errs []error
	for _, listener := range []net.Listener{s.plain, s.tls} {
		if listener == nil {
			continue
		}
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.webhooks != nil {
		s.webhooks.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.close(ctx))
	}
	return errors.Join(errs...)
}
