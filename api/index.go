package api

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/encoding"
)

// infoRoutes mounts everything that is not a resource: the index, discovery,
// version, health, metrics, OpenAPI and OpenID.
func (s *Server) infoRoutes(r chi.Router) {
	r.HandleFunc("/", s.serveIndex)
	s.discoveryRoutes(r)
	s.openAPIRoutes(r)
	s.openIDRoutes(r)
	handleSlash(r, "/version", s.onlyGet(s.serveVersion))
	r.Handle("/metrics", s.metrics.Handler())
	for _, endpoint := range s.healthEndpoints() {
		endpoint.mount(r)
	}
}

// handleSlash serves a path with and without a slash at its end, whatever the
// method: kube-apiserver asks for GET in some places only.
func handleSlash(r chi.Router, path string, handler http.HandlerFunc) {
	r.HandleFunc(path, handler)
	r.HandleFunc(path+"/", handler)
}

// onlyGet refuses other methods.
func (s *Server) onlyGet(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.methodNotAllowed(w, r)
			return
		}
		handler(w, r)
	}
}

// serveIndex lists the paths that can be asked.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request) {
	paths := []string{"/api", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"}
	paths = append(paths, s.openIDPaths()...)
	for _, group := range s.config.Catalog.Snapshot().Groups {
		root := "/api"
		if group.Name != "" {
			root = "/apis/" + group.Name
			paths = append(paths, root)
		}
		for _, version := range group.Versions {
			paths = append(paths, root+"/"+version)
		}
	}
	for _, endpoint := range s.healthEndpoints() {
		paths = append(paths, endpoint.paths()...)
	}
	slices.Sort(paths)
	s.writeIndentedJSON(w, r, metav1.RootPaths{Paths: paths})
}

// serveVersion answers who serves.
func (s *Server) serveVersion(w http.ResponseWriter, r *http.Request) {
	s.writeIndentedJSON(w, r, s.config.Version)
}

// writeIndentedJSON answers with what is meant for people as much as for
// programs.
func (s *Server) writeIndentedJSON(w http.ResponseWriter, r *http.Request, value any) {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	s.responder.WriteResponse(w, r, encoding.Response{ContentType: "application/json", Status: http.StatusOK, Body: body})
}
