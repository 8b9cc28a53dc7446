package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/miniapi/miniapi/api/encoding"
)

// routes joins middleware and handlers, outermost first.
func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(
		setHeaders,
		readRequestInfo,
		s.countRequests, // who waits for all requests waits for what is noted of them too
		s.logRequests,
		s.measureRequests,
		s.recoverPanics,
		s.guardHost,
		s.identifyUser,
		s.impersonate,
		s.limitInFlight,
		s.authorizeRequests,
		collectWarnings,
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
