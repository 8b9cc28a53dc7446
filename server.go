package miniapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission"
	"github.com/miniapi/miniapi/aggregator"
	"github.com/miniapi/miniapi/api"
	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/healthz"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/controllers"
	"github.com/miniapi/miniapi/crd"
	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/datastore"
	"github.com/miniapi/miniapi/internal/heartbeat"
	"github.com/miniapi/miniapi/internal/listener"
	"github.com/miniapi/miniapi/internal/manifests"
	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/internal/tracing/export"
	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/testapi"
	"github.com/miniapi/miniapi/testapi/faults"
	"github.com/miniapi/miniapi/ui"
)

const (
	// syncTimeout limits the time that a request waits for changes of the catalog, startTimeout the
	// time that the start waits for the existing definitions.
	syncTimeout  = 5 * time.Second
	startTimeout = time.Minute
)

// Server is a running API server. Its methods are safe for concurrent use.
type Server struct {
	config     Config
	clock      *apitime.Clock
	features   *feature.Set
	bootstrap  bootstrap.Config
	listener   *listener.Listener
	identity   *identity
	datastore  *datastore.Datastore
	authorizer *authz.Authorizer
	admission  *admission.Admission
	flows      *flowcontrol.Classifier
	catalog    *registry.Catalog
	crds       *crd.Controller
	aggregator *aggregator.Aggregator
	// controllers are the built-in controllers.
	controllers *controllers.Controllers
	api         *api.Server
	auditLog    *audit.Log       // nil: none
	traces      *export.Exporter // nil: none
	manifests   *manifests.Loader
	testAPIs    *testapi.TestAPIs // nil: off
	initial     initialState
	faults      *faults.Set
	// identityLease is nil except in the full bootstrap.
	identityLease *heartbeat.Lease

	// group owns every goroutine of the server; cancel ends them.
	group  *errgroup.Group
	cancel context.CancelFunc
	// running ends when the goroutines end.
	running context.Context

	stop    sync.Once
	stopErr error
	done    chan struct{} // closed when every goroutine has ended
}

// Start returns a server that answers requests. If it returns an error, nothing is left running.
// ctx limits the start only; call Stop to end the server.
func Start(ctx context.Context, config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	features, err := config.features().Set()
	if err != nil {
		return nil, err
	}
	s := &Server{config: config.withDefaults(), features: features, clock: newClock(config), done: make(chan struct{})}
	s.faults = faults.NewSet(faults.Config{Intervene: s.intervene, Labels: s.requestLabels, Revision: s.revision, Compact: s.compact, Now: s.clock.Now})
	if err := s.assemble(ctx); err != nil {
		return nil, errors.Join(err, s.release(context.WithoutCancel(ctx)))
	}
	s.run()
	if err := s.complete(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// complete loads the objects of the configuration and records the initial state.
func (s *Server) complete(ctx context.Context) error {
	s.awaitDefinitions(ctx)
	if err := s.manifests.Load(ctx); err != nil {
		return err
	}
	if err := s.initial.record(ctx, s); err != nil {
		return err
	}
	return s.addFaults()
}

// assemble opens the ports and the datastore and builds all parts of the server. The ports come
// first: a port in use is reported before anything else starts, and the bootstrap objects contain
// the port number.
func (s *Server) assemble(ctx context.Context) error {
	ranges, err := serviceip.ParseRanges(s.config.ServiceClusterIPRange)
	if err != nil {
		return err
	}
	if err := s.open(ctx, ranges[0].Addr().Next()); err != nil {
		return err
	}
	if err := s.buildCatalog(ranges); err != nil {
		return err
	}
	if err := s.buildAPI(); err != nil {
		return err
	}
	authentication, err := s.authentication()
	if err != nil {
		return err
	}
	s.bootstrap = bootstrap.Config{
		Now:            s.clock.Now,
		Release:        s.features.Release(),
		ServiceRanges:  ranges,
		Port:           s.listener.Port(),
		AccessRoles:    s.config.authorization().Has(authz.ModeRBAC),
		Authentication: authentication,
		Advertise:      s.advertised(),
		Shared:         s.shared(),
	}
	if s.identityLease, err = s.newIdentityLease(); err != nil {
		return err
	}
	return s.seed(ctx)
}

// open opens the ports, the datastore and the keys. The keys may lie in the data directory, which
// the datastore creates.
func (s *Server) open(ctx context.Context, serviceIP netip.Addr) error {
	ports := listener.Config{Plain: s.config.Listen, Logger: s.config.logger("http")}
	if s.config.Secure != nil {
		ports.Secure = s.config.Secure.Listen
	}
	var err error
	if s.listener, err = listener.Open(ctx, ports); err != nil {
		return err
	}
	s.datastore, err = datastore.Open(ctx, datastore.Config{
		Servers: s.config.EtcdServers,
		TLS:     s.config.EtcdTLS,
		Embedded: embedded.Config{
			DataDir:          s.config.DataDir,
			Snapshot:         s.config.FromSnapshot,
			ListenClientURLs: s.config.EtcdListenClientURLs,
			QuotaBytes:       s.config.EtcdQuotaBackendBytes,
		},
		Prefix:           s.config.EtcdPrefix,
		ReadOnly:         s.config.ReadOnly,
		Revision:         s.config.AtRevision,
		Encryption:       s.encryption(),
		Retention:        s.config.CompactionInterval,
		BeforeCompaction: s.initial.keep,
		Failure:          s.faults.Failure,
		Clock:            s.clock,
		Logger:           s.config.Logger,
	})
	if err != nil {
		return err
	}
	if s.auditLog, err = audit.Open(s.config.audit()); err != nil {
		return err
	}
	if s.traces, err = export.Open(ctx, s.config.tracing(), Version()); err != nil {
		return err
	}
	s.identity, err = newIdentity(s.config, serviceIP, s.store, s.clock)
	return err
}

// shared reports whether other servers may use the same storage.
func (s *Server) shared() bool { return len(s.config.EtcdServers) > 0 }

// buildAPI builds the HTTP API and the client of it that loads manifests.
func (s *Server) buildAPI() error {
	config := api.Config{
		Catalog:       s.catalog,
		Scheme:        kinds.Scheme(),
		CBOR:          s.features.Enabled(feature.CBORServingAndStorage),
		Remote:        s.aggregator.Handler,
		Logger:        s.config.Logger,
		RequestLog:    s.config.requestLog(),
		Version:       kubernetesVersion(s.features.Release()),
		Authenticator: s.identity.credentials.Authenticate,
		Ready:         []healthz.Check{{Name: "etcd", Check: s.datastore.Ready}},
		NotLive:       slices.Concat(s.kmsChecks(), s.certificateChecks()),
		ReadyOnly:     s.readinessChecks(),
		Collectors:    s.collectors(),
		Sync:          s.sync,
		FlowControl:   s.flows,

		ConstrainedImpersonation: s.features.Enabled(feature.ConstrainedImpersonation),
		WatchListCompression:     s.features.Enabled(feature.WatchListCompression),
		Injector:                 s.faults,
		Profiling:                s.config.Profiling,
		Tracing:                  s.traces.Provider(),
		Audit:                    s.auditLog,
		MaxInFlight:              s.config.MaxRequestsInFlight,
		MaxMutatingInFlight:      s.config.MaxMutatingRequestsInFlight,
	}
	if s.testAPIs != nil {
		config.TestAPIs = s.testAPIs
		config.RequestLog.Observe = s.testAPIs.ObserveRequest
	}
	if s.config.UI {
		config.Page = ui.Handler()
	}
	documents, err := s.identity.credentials.OpenID(s.URL() + api.OpenIDKeysPath)
	if err != nil {
		s.config.Logger.Warn("OpenID discovery is not served", "error", err)
	} else {
		config.OpenID = documents
	}
	if s.api, err = api.New(config); err != nil {
		return err
	}
	s.manifests, err = manifests.NewLoader(manifests.Config{
		CRDs: s.config.CRDs, Folder: s.config.Manifests, Client: s.RESTConfig(), Logger: s.config.Logger,
	})
	return err
}

// store finds the store of a resource. It is passed to parts that are built before the catalog and
// call it later.
func (s *Server) store(resource schema.GroupResource) (*registry.Store, bool) {
	return s.catalog.Snapshot().Store(resource)
}

// resolver returns the function that finds the Services of webhooks.
func (s *Server) resolver() webhooks.ResolveFunc {
	if resolve := s.config.ResolveService; resolve != nil {
		return func(ctx context.Context, service webhooks.Service) (string, error) {
			return resolve(ctx, service.Namespace, service.Name, service.Port)
		}
	}
	return webhooks.ClusterIP(func() (registry.Reader, bool) { return s.store(corev1.Resource("services")) })
}

// sync blocks until the catalog serves every kind that was defined before the call, or until
// syncTimeout.
func (s *Server) sync(ctx context.Context) { s.syncWithin(ctx, syncTimeout) }

func (s *Server) syncWithin(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	updates := []func(context.Context) error{s.crds.Sync}
	if !s.config.readOnly() {
		updates = append(updates, s.aggregator.Sync)
	}
	for _, update := range updates {
		if err := update(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "the catalog may be outdated", "error", err)
		}
	}
}

// run starts the goroutines of the server.
func (s *Server) run() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.group, ctx = errgroup.WithContext(ctx)
	s.running = ctx
	parts := []func(context.Context) error{
		s.clock.Run,
		s.datastore.Run, s.catalog.Run, s.authorizer.Run, s.admission.Run, s.flows.Run, s.crds.Run, s.manifests.Run,
		s.controllers.Run, s.publishAuthentication, s.identity.credentials.Run,
	}
	if !s.config.readOnly() { // a snapshot does not contain the objects of aggregated APIs
		parts = append(parts, s.aggregator.Run)
	}
	if s.config.Bootstrap == bootstrap.Full { // the only mode with APIServices and Endpoints
		parts = append(parts, s.aggregator.Register, s.advertise)
	}
	for _, run := range parts {
		s.group.Go(func() error { return run(ctx) })
	}
	var config *tls.Config
	if s.identity.serving != nil {
		config = s.identity.tls
	}
	s.group.Go(func() error { return s.listener.Serve(s.api.Handler(), config) })
	go func() { // ends with the group; a part that fails ends the server by Stop too
		<-ctx.Done()
		s.Stop(context.Background())
	}()
}
