package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/registry"
)

// Config is what a Server is made of. Catalog and Scheme are needed; the zero
// value of everything else works.
type Config struct {
	// Catalog holds what is served. It may change while the server runs.
	Catalog *registry.Catalog
	// Scheme knows the Go types of the built-in kinds.
	Scheme *runtime.Scheme
	// Logger takes what operators should know. Nil discards it.
	Logger *slog.Logger
	// Ready is asked by /readyz, /livez and /healthz, in this order.
	Ready []Check
	// ReadyOnly is asked by /readyz alone, after those: conditions that a restart
	// does not mend.
	ReadyOnly []Check
	// Collectors are served by /metrics along with the server's own metrics.
	Collectors []prometheus.Collector
	// Version is the answer of /version.
	Version version.Info
	// User finds out who makes a request; an error is a 401. Nil: everybody is
	// the local administrator.
	User UserFunc
	// OpenID is served to those who check the server's tokens. Nil: not found.
	OpenID *OpenID
	// MaxInFlight limits the requests that read and are worked on at a time,
	// MaxMutatingInFlight those that change something. 0: any number.
	MaxInFlight, MaxMutatingInFlight int
	// MaxUnreadBytes bounds the memory of responses that were built as a whole and
	// wait to be read: beyond it reads are answered with 429. 0: 512 MiB.
	MaxUnreadBytes int64
	// Settle returns when the catalog has what was defined before it was called,
	// or its context ends. Nil: the catalog does not lag behind anything.
	Settle func(ctx context.Context)
	// AllowedHosts are the names, besides localhost and the loopback addresses,
	// that the Host and Origin headers of a request may carry when it came in
	// on a loopback address. "*" allows every name.
	AllowedHosts []string
}

// UserFunc finds out who makes a request.
type UserFunc func(r *http.Request) (*authenticationv1.UserInfo, error)

// Validate lists every fault of the configuration at once.
func (c Config) Validate() error {
	var faults []error
	if c.Catalog == nil {
		faults = append(faults, errors.New("api: Config.Catalog is missing"))
	}
	if c.Scheme == nil {
		faults = append(faults, errors.New("api: Config.Scheme is missing"))
	}
	return errors.Join(faults...)
}

func (c *Config) setDefaults() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.User == nil {
		c.User = localAdministrator
	}
}

// localAdministrator is who uses a server that asks nobody for a name.
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
	info       *info
	metrics    *metrics
	life       *lifecycle
	deprecated deprecations
	handler    http.Handler
}

// New makes a server. It starts nothing.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	s := &Server{
		config:  cfg,
		info:    newInfo(cfg),
		metrics: newMetrics(),
		life:    newLifecycle(),
	}
	s.responder = encoding.NewResponder(encoding.Config{
		Scheme: cfg.Scheme, Logger: cfg.Logger, MaxUnreadBytes: cfg.MaxUnreadBytes, Shutdown: s.life.ending,
	})
	s.handler = s.routes()
	return s, nil
}

// Handler returns what answers requests, the same on every call.
func (s *Server) Handler() http.Handler { return s.handler }

// Shutdown refuses new requests, ends all watches and waits for the requests in
// flight, or for the end of ctx, whose error it then returns.
func (s *Server) Shutdown(ctx context.Context) error {
	return s.life.shutdown(ctx)
}
