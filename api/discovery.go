package api

import (
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
)

func (s *Server) discoveryRoutes(r chi.Router) {
	handleSlash(r, "/api", s.onlyGet(s.serveLegacyRoot))
	handleSlash(r, "/apis", s.serveNamedRoot)
	handleSlash(r, "/api/{version}", s.onlyGet(s.serveResources))
	handleSlash(r, "/apis/{group}", s.serveGroup)
	handleSlash(r, "/apis/{group}/{version}", s.orProxy(s.onlyGet(s.serveResources)))
}

// serveLegacyRoot answers /api.
func (s *Server) serveLegacyRoot(w http.ResponseWriter, r *http.Request) {
	d := s.info.surface(r.Context()).discovery()
	s.serveRoot(w, r, d.legacy, func() *encoding.CachedObject {
		// Without apiVersion, as from kube-apiserver. The address is this
		// connection's: nothing to keep.
		return encoding.NewCachedObject(&metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
			Versions: d.legacyVersions,
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
				{ClientCIDR: "0.0.0.0/0", ServerAddress: localAddress(r)},
			},
		})
	})
}

// serveNamedRoot answers /apis.
func (s *Server) serveNamedRoot(w http.ResponseWriter, r *http.Request) {
	d := s.info.surface(r.Context()).discovery()
	s.serveRoot(w, r, d.named, func() *encoding.CachedObject { return d.groupList })
}

// serveRoot answers with the aggregated document to who asks for it and with
// the plain one to everybody else.
func (s *Server) serveRoot(w http.ResponseWriter, r *http.Request, aggregated *aggregatedDiscovery, plain func() *encoding.CachedObject) {
	f, err := s.responder.Negotiate(r, ofDiscovery)
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	w.Header().Set("Vary", "Accept")
	if f.As.Empty() {
		s.responder.WriteCached(w, r, f, plain())
		return
	}
	w.Header().Set("ETag", aggregated.etag)
	w.Header().Set("Cache-Control", "public")
	if r.Header.Get("If-None-Match") == aggregated.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.responder.WriteCached(w, r, f, aggregated.version(f.As.GroupVersion()))
}

// serveGroup answers /apis/{group}.
func (s *Server) serveGroup(w http.ResponseWriter, r *http.Request) {
	d, ok := s.info.surface(r.Context()).discovery().groups[chi.URLParam(r, "group")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	s.servePlain(w, r, d)
}

// serveResources answers /api/{version} and /apis/{group}/{version}.
func (s *Server) serveResources(w http.ResponseWriter, r *http.Request) {
	discovery := s.info.surface(r.Context()).discovery()
	gv := schema.GroupVersion{Group: chi.URLParam(r, "group"), Version: chi.URLParam(r, "version")}
	if d, ok := discovery.resources[gv]; ok {
		s.servePlain(w, r, d)
		return
	}
	if !discovery.typed[gv.Group] {
		http.NotFound(w, r)
		return
	}
	s.responder.WriteError(w, r, encoding.GenericError(http.StatusNotFound, ""))
}

func (s *Server) servePlain(w http.ResponseWriter, r *http.Request, d *encoding.CachedObject) {
	f, err := s.responder.Negotiate(r, encoding.NoTransformation)
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	s.responder.WriteCached(w, r, f, d)
}

// localAddress is where the client reached the server.
func localAddress(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addr.String()
	}
	return r.Host
}
