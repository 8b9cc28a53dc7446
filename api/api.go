package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/api/discovery"
	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/healthz"
	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/metrics"
	"github.com/miniapi/miniapi/api/openapi"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/api/requestlog"
	"github.com/miniapi/miniapi/registry"
)

// Config configures a Server. Catalog and Scheme are required.
type Config struct {
	// Catalog holds the resources to serve. It may change while the server runs.
	Catalog *registry.Catalog
	// Scheme holds the Go types of the built-in kinds.
	Scheme *runtime.Scheme
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
	// ReadyOnly are further checks of /readyz, for conditions that a restart does not resolve.
	ReadyOnly []healthz.Check
	// Collectors are additional metrics of /metrics.
	Collectors []prometheus.Collector
	// Version is the response of /version.
	Version version.Info
	// Authenticator determines the user of a request. Nil: every user is the local administrator.
	Authenticator filters.Authenticator
	// FlowControl classifies requests for the headers of their responses. Nil: no such headers.
	FlowControl *flowcontrol.Classifier
	// OpenID holds the documents for verifiers of the server's tokens. Nil: they are not served.
	OpenID OpenID
	// MaxInFlight limits the read requests in flight, MaxMutatingInFlight all others. Long-running
	// requests do not count. 0: no limit.
	MaxInFlight, MaxMutatingInFlight int
	// MaxUnreadBytes limits the memory of responses that were built as a whole and are not read
	// yet. Reads beyond the limit are answered with 429. 0: 512 MiB.
	MaxUnreadBytes int64
	// ConstrainedImpersonation adds the verbs impersonate:MODE and impersonate-on:MODE:VERB.
	ConstrainedImpersonation bool
	// TestAPIs serves the history and the blame of objects and gets at exact revisions, and adds
	// the origin of each write to its context, see registry.Origin. Nil: off.
	TestAPIs TestAPIs
	// Injector injects failures into requests. Nil: none.
	Injector filters.Injector
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
	responder  *encoding.Responder
	documents  *discovery.Cache
	metrics    *metrics.Metrics
	requests   *lifecycle.Tracker
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
	s := &Server{
		config: cfg,
		documents: discovery.NewCache(discovery.Config{
			Catalog: cfg.Catalog, Scheme: cfg.Scheme, Release: openapi.Release(cfg.Version),
			OpenID: cfg.OpenID != nil, PatchTypes: openAPIPatchTypes(), Sync: cfg.Sync,
		}),
		metrics:  metrics.New(cfg.Catalog, cfg.Collectors...),
		requests: lifecycle.NewTracker(),
		log:      requestlog.New(cfg.RequestLog),
	}
	s.responder = encoding.NewResponder(encoding.Config{
		Scheme: cfg.Scheme, Logger: cfg.Logger, MaxUnreadBytes: cfg.MaxUnreadBytes, Shutdown: s.requests.Stopping(),
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

// RecentRequests returns the records that the request log keeps, in the order in which the requests
// ended.
func (s *Server) RecentRequests() []request.Record { return s.log.Recent() }

// AwaitIdle waits until no request is open, or until ctx is done, whose error it then returns.
func (s *Server) AwaitIdle(ctx context.Context) error { return s.requests.AwaitIdle(ctx) }
