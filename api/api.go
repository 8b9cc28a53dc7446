package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/discovery"
	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/fieldtree"
	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/healthz"
	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/metrics"
	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/api/requestlog"
	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/registry"
)

// Config configures a Server. Catalog and Scheme are required.
type Config struct {
	// Catalog holds the resources to serve. It may change while the server runs.
	Catalog *registry.Catalog
	// Scheme holds the Go types of the built-in kinds.
	Scheme *runtime.Scheme
	// CBOR adds CBOR to the media types of requests and responses.
	CBOR bool
	// Remote returns the handler that forwards the requests for a remote group version of the
	// catalog, and false if the catalog no longer has it. The handler writes nothing if
	// context.DeadlineExceeded ends the context of a request before the other server has
	// answered. Nil: the catalog has no remote group versions.
	Remote func(gv schema.GroupVersion) (http.Handler, bool)
	// Logger receives errors and panics. Nil: discarded.
	Logger *slog.Logger
	// RequestLog configures the log of requests and the list of recent requests. Default: neither.
	RequestLog requestlog.Config
	// Ready are the checks of /readyz, /livez and /healthz, in this order.
	Ready []healthz.Check
	// NotLive are further checks of /readyz and /healthz.
	NotLive []healthz.Check
	// ReadyOnly are further checks of /readyz, for conditions that a restart does not resolve.
	ReadyOnly []healthz.Check
	// Collectors are additional metrics of /metrics.
	Collectors []prometheus.Collector
	// Version is the response of /version.
	Version version.Info
	// Authenticator determines the user of a request. Nil: every user is the local administrator.
	Authenticator filters.Authenticator
	// FlowControl classifies requests for the headers of their responses and for the metrics. Nil:
	// requests are not classified.
	FlowControl *flowcontrol.Classifier
	// OpenID holds the documents for verifiers of the server's tokens. Nil: they are not served.
	OpenID OpenID
	// MaxInFlight limits the read requests in flight, MaxMutatingInFlight all others. Long-running
	// requests do not count. 0: no limit.
	MaxInFlight, MaxMutatingInFlight int
	// Memory configures the memory budget of the requests.
	Memory memory.Config
	// WatchListCompression compresses watches that begin with a list, if the client accepts gzip.
	WatchListCompression bool
	// ConstrainedImpersonation adds the verbs impersonate:MODE and impersonate-on:MODE:VERB.
	ConstrainedImpersonation bool
	// TestAPIs serves the history and the blame of objects and gets at exact revisions, and adds
	// the origin of each write to its context, see registry.Origin. Nil: off.
	TestAPIs TestAPIs
	// Injector injects failures into requests. Nil: none.
	Injector filters.Injector
	// Tracing makes the spans of requests. Nil: none.
	Tracing trace.TracerProvider
	// Profiling serves profiles of the process at /debug/pprof.
	Profiling bool
	// Audit is the audit log. Nil: none.
	Audit *audit.Log
	// Page serves the paths at and below /ui, without authentication. Nil: they do not exist.
	Page http.Handler
	// Sync blocks until the catalog serves every resource defined before the call, or until its
	// context is done. Nil: the catalog is always up to date.
	Sync func(ctx context.Context)
}

// TestAPIs is the part of package testapi that requests for resources need.
type TestAPIs interface {
	// History returns the history of the object that a request names.
	History(ctx context.Context, store registry.Interface, object registry.ObjectName) (runtime.Object, error)
	// Blame returns the write of each field of the object that a request names.
	Blame(ctx context.Context, store registry.Interface, object registry.ObjectName) (runtime.Object, error)
}

// Validate returns all errors of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Catalog == nil {
		errs = append(errs, errors.New("api: Config.Catalog is missing"))
	}
	if c.Scheme == nil {
		errs = append(errs, errors.New("api: Config.Scheme is missing"))
	}
	return errors.Join(errs...)
}

func (c *Config) setDefaults() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Authenticator == nil {
		c.Authenticator = localAdministrator
	}
}

// localAdministrator is the Authenticator of a server without authentication.
func localAdministrator(*http.Request) (*authenticationv1.UserInfo, error) {
	return &authenticationv1.UserInfo{
		Username: "system:admin",
		Groups:   []string{"system:masters", "system:authenticated"},
	}, nil
}

// Server serves a catalog over HTTP. Safe for concurrent use.
type Server struct {
	config     Config
	patchTypes []patchType
	layouts    fieldtree.Layouts // of the types of patched objects
	responder  *encoding.Responder
	documents  *discovery.Cache
	metrics    *metrics.Metrics
	requests   *lifecycle.Tracker
	memory     *memory.Budget
	log        *requestlog.Log
	deprecated deprecations
	handler    http.Handler
}

// New returns a Server. It starts no goroutine.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	patchTypes := patchTypesOf(cfg)
	s := &Server{
		config:     cfg,
		patchTypes: patchTypes,
		documents: discovery.NewCache(discovery.Config{
			Catalog: cfg.Catalog, Scheme: cfg.Scheme, Release: openapi.Release(cfg.Version),
			OpenID: cfg.OpenID != nil, CBOR: cfg.CBOR, PatchTypes: openAPIPatchTypes(patchTypes), Sync: cfg.Sync,
		}),
		requests: lifecycle.NewTracker(),
		memory:   memory.NewBudget(cfg.Memory),
		log:      requestlog.New(cfg.RequestLog),
	}
	s.metrics = metrics.New(metrics.Config{Catalog: cfg.Catalog, Memory: s.memory, Version: cfg.Version, More: cfg.Collectors})
	s.responder = encoding.NewResponder(encoding.Config{
		Scheme: cfg.Scheme, CBOR: cfg.CBOR, Audit: cfg.Audit != nil, Logger: cfg.Logger, Shutdown: s.requests.Stopping(),
	})
	s.handler = s.routes()
	return s, nil
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Shutdown rejects new requests, ends all watches and waits for the requests in flight, or until
// ctx is done, whose error it then returns.
func (s *Server) Shutdown(ctx context.Context) error { return s.requests.Shutdown(ctx) }

// OpenRequests returns the requests that are not answered completely, including watches, oldest
// first.
func (s *Server) OpenRequests() []lifecycle.OpenRequest { return s.requests.OpenRequests() }

// OpenWatches returns the watches in progress, oldest first.
func (s *Server) OpenWatches() []lifecycle.OpenWatch { return s.requests.OpenWatches() }

// Tracker returns the tracker of the open requests.
func (s *Server) Tracker() *lifecycle.Tracker { return s.requests }

// RecentRequests returns the records that the request log keeps, in the order in which the requests
// ended.
func (s *Server) RecentRequests() []request.Record { return s.log.Recent() }

// AwaitIdle waits until no request is open, or until ctx is done, whose error it then returns.
func (s *Server) AwaitIdle(ctx context.Context) error { return s.requests.AwaitIdle(ctx) }
