package api

import (
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"
)

// profilingPath is the path of Config.Profiling.
const profilingPath = "/debug/pprof"

// profilingRoutes mounts the profiles of the process at the paths of kube-apiserver, which does not
// show the command line. As all non-resource paths they are authorized by nonResourceURLs.
func (s *Server) profilingRoutes(r chi.Router) {
	r.HandleFunc(profilingPath, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, profilingPath+"/", http.StatusFound)
	})
	r.HandleFunc(profilingPath+"/*", pprof.Index)
	r.HandleFunc(profilingPath+"/profile", pprof.Profile)
	r.HandleFunc(profilingPath+"/symbol", pprof.Symbol)
	r.HandleFunc(profilingPath+"/trace", pprof.Trace)
}
