package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/filters"
)

// routes returns the handler of the server: the filters, outermost first, and the routes.
func (s *Server) routes() http.Handler {
	logger, authorizer := s.config.Logger, s.config.Catalog.Authorizer()
	limits := filters.MaxInFlight{ReadOnly: s.config.MaxInFlight, Mutating: s.config.MaxMutatingInFlight}
	r := chi.NewRouter()
	r.Use(
		filters.WithAuditID,
		filters.WithCacheControl,
		filters.WithRequestInfo,
		filters.WithRequestTracking(s.requests, s.responder),
		filters.WithAccessLog(logger),
		filters.WithMetrics(s.metrics),
		filters.WithPanicRecovery(logger, s.responder),
		filters.WithHostGuard(s.responder),
		filters.WithAuthentication(s.config.Authenticator, logger, s.responder),
		filters.WithImpersonation(authorizer, s.responder),
		filters.WithMaxInFlightLimit(limits, s.requests),
		filters.WithAuthorization(authorizer, s.responder),
		filters.WithWarnings,
	)
	r.NotFound(http.NotFound)
	r.MethodNotAllowed(s.methodNotAllowed)
	s.infoRoutes(r)
	r.Handle("/api/{version}/*", http.HandlerFunc(s.serveResource))
	r.Handle("/apis/{group}/{version}/*", s.orProxy(s.serveResource))
	return r
}

func (s *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	s.responder.WriteError(w, r, encoding.GenericError(http.StatusMethodNotAllowed, ""))
}
