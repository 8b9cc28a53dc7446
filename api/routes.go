package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/miniapi/miniapi/api/discovery"
	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/filters"
	"github.com/miniapi/miniapi/api/healthz"
)

// pagePath is the path of Config.Page.
const pagePath = "/ui"

// routes returns the handler of the server: the filters, outermost first, and the routes.
func (s *Server) routes() http.Handler {
	logger, authorizer := s.config.Logger, s.config.Catalog.Authorizer()
	limits := filters.MaxInFlight{ReadOnly: s.config.MaxInFlight, Mutating: s.config.MaxMutatingInFlight}
	impersonation := filters.WithImpersonation(authorizer, s.responder)
	if s.config.ConstrainedImpersonation {
		impersonation = filters.WithConstrainedImpersonation(authorizer, s.metrics.Impersonation(), s.responder)
	}
	r := chi.NewRouter()
	r.Use(
		filters.WithReservedStack,
		filters.WithAuditID,
		filters.WithCacheControl,
		filters.WithRequestInfo(s.namespaceSubresources()...),
		filters.WithRequestTracking(s.requests, s.responder),
		filters.WithRequestLog(s.log),
		filters.WithMetrics(s.metrics),
		filters.WithTracing(s.config.Tracing),
		filters.WithPanicRecovery(logger, s.responder),
		filters.WithHostGuard(s.responder),
		filters.WithWarnings,
		filters.WithTimeoutCheck(s.responder),
		filters.WithPage(pagePath, s.config.Page),
		filters.WithAuditAnnotations(s.config.Audit),
		filters.WithAuthentication(s.metrics.Authenticator(s.config.Authenticator), logger, filters.WithFailedAuthenticationAudit(s.config.Audit, filters.Unauthorized(s.responder))),
		filters.WithAudit(s.config.Audit),
		impersonation,
		filters.WithFlowControl(s.config.FlowControl, limits, s.requests, s.metrics.Terminate),
		filters.WithMemoryBudget(s.memory, s.responder),
		filters.WithAuthorization(s.metrics.Authorizer(authorizer), s.responder),
		filters.WithInjection(s.config.Injector, s.responder),
		withTrimmedRoute,
	)
	r.NotFound(http.NotFound)
	r.MethodNotAllowed(s.methodNotAllowed)
	s.nonResourceRoutes(r)
	r.Handle("/api/{version}/*", http.HandlerFunc(s.serveResource))
	r.Handle("/apis/{group}/{version}/*", s.orProxy(s.serveResource))
	return r
}

// withTrimmedRoute routes paths with several slashes at the end as those with none, except /apis//.
func withTrimmedRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimRight(r.URL.Path, "/")
		if strings.HasSuffix(r.URL.Path, "//") && strings.HasPrefix(path, "/api") && path != "/apis" {
			chi.RouteContext(r.Context()).RoutePath = path
		}
		next.ServeHTTP(w, r)
	})
}

// nonResourceRoutes mounts all paths that name no resource.
func (s *Server) nonResourceRoutes(r chi.Router) {
	d := discovery.NewHandlers(s.documents, s.responder)
	handleSlash(r, "/api", s.onlyGet(d.ServeLegacyVersions))
	handleSlash(r, "/apis", d.ServeGroups)
	resources := d.ServeResources(s.methodNotAllowed)
	handleSlash(r, "/api/{version}", resources)
	handleSlash(r, "/apis/{group}", d.ServeGroup)
	handleSlash(r, "/apis/{group}/{version}", s.orProxy(resources))
	r.HandleFunc("/openapi/v2", s.serveOpenAPIV2)
	handleSlash(r, "/openapi/v3", s.serveOpenAPIIndex)
	r.HandleFunc("/openapi/v3/*", s.serveOpenAPIV3)
	s.openIDRoutes(r)
	handleSlash(r, "/version", s.onlyGet(s.produces("application/json", d.Version(s.config.Version))))
	r.Handle("/metrics", s.metrics.Handler())
	r.Handle("/metrics/slis", s.metrics.HealthHandler())
	paths := []string{"/api", "/apis", "/apis/", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"}
	health := healthz.Config{
		All: s.config.Ready, NotLive: s.config.NotLive, ReadyOnly: s.config.ReadyOnly, Observe: s.metrics.ObserveHealthCheck,
	}
	for _, e := range healthz.Endpoints(health) {
		r.HandleFunc(e.Path, e.Handler)
		paths = append(paths, e.Path)
	}
	if s.config.Profiling {
		s.profilingRoutes(r)
		paths = append(paths, profilingPath)
	}
	if s.config.Page != nil {
		paths = append(paths, pagePath)
	}
	r.HandleFunc("/", d.Index(append(paths, s.openIDPaths()...)))
}

// handleSlash mounts a path with and without a trailing slash, for all methods: kube-apiserver
// requires GET for some paths only.
func handleSlash(r chi.Router, path string, handler http.HandlerFunc) {
	r.HandleFunc(path, handler)
	r.HandleFunc(path+"/", handler)
}

// onlyGet returns a handler that rejects methods other than GET and HEAD.
func (s *Server) onlyGet(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.methodNotAllowed(w, r)
			return
		}
		handler(w, r)
	}
}

// produces returns a handler that rejects requests that do not accept a content type.
func (s *Server) produces(contentType string, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := encoding.CheckAccept(r, contentType); err != nil {
			s.responder.WriteError(w, r, err)
			return
		}
		handler(w, r)
	}
}

func (s *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	s.responder.WriteError(w, r, encoding.GenericError(http.StatusMethodNotAllowed, ""))
}
