package discovery

import (
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/encoding"
)

// Handlers serves the documents of a Cache.
type Handlers struct {
	cache     *Cache
	responder *encoding.Responder
}

// NewHandlers returns the handlers of a Cache.
func NewHandlers(cache *Cache, responder *encoding.Responder) *Handlers {
	return &Handlers{cache, responder}
}

// ServeLegacyVersions serves /api.
func (h *Handlers) ServeLegacyVersions(w http.ResponseWriter, r *http.Request) {
	d := h.cache.Documents(r.Context()).discovery()
	h.serveRoot(w, r, d.legacy, func() *encoding.CachedObject {
		// As in kube-apiserver it has no apiVersion. The address depends on the connection.
		return encoding.NewCachedObject(&metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"},
			Versions: d.legacyVersions,
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
				{ClientCIDR: "0.0.0.0/0", ServerAddress: localAddress(r)},
			},
		})
	})
}

// ServeGroups serves /apis.
func (h *Handlers) ServeGroups(w http.ResponseWriter, r *http.Request) {
	d := h.cache.Documents(r.Context()).discovery()
	h.serveRoot(w, r, d.named, func() *encoding.CachedObject { return d.groupList })
}

// serveRoot sends the aggregated document if the client accepts it, and otherwise the plain one.
func (h *Handlers) serveRoot(w http.ResponseWriter, r *http.Request, aggregated *aggregatedDiscovery, plain func() *encoding.CachedObject) {
	if err := h.responder.CheckAccept(r); err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
	f, err := h.responder.Negotiate(r, aggregatedOrPlain)
	if err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
	w.Header().Set("Vary", "Accept")
	if f.As.Empty() {
		h.responder.WriteCached(w, r, f, plain())
		return
	}
	w.Header().Set("ETag", aggregated.etag)
	w.Header().Set("Cache-Control", "public")
	if r.Header.Get("If-None-Match") == aggregated.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.responder.WriteCached(w, r, f, aggregated.version(f.As.GroupVersion()))
}

// ServeGroup serves /apis/{group}.
func (h *Handlers) ServeGroup(w http.ResponseWriter, r *http.Request) {
	d := h.cache.Documents(r.Context()).discovery()
	name := chi.URLParam(r, "group")
	group, ok := d.groups[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h.servePlain(w, r, group, d.builtIn[name])
}

// ServeResources serves /api/{version} and /apis/{group}/{version}.
func (h *Handlers) ServeResources(w http.ResponseWriter, r *http.Request) {
	d := h.cache.Documents(r.Context()).discovery()
	gv := schema.GroupVersion{Group: chi.URLParam(r, "group"), Version: chi.URLParam(r, "version")}
	if resources, ok := d.resources[gv]; ok {
		h.servePlain(w, r, resources, d.builtIn[gv.Group])
		return
	}
	if !d.builtIn[gv.Group] {
		http.NotFound(w, r)
		return
	}
	h.responder.WriteError(w, r, encoding.GenericError(http.StatusNotFound, ""))
}

// servePlain sends a document. routed reports whether the router of kube-apiserver has its path,
// which checks the Accept header.
func (h *Handlers) servePlain(w http.ResponseWriter, r *http.Request, document *encoding.CachedObject, routed bool) {
	var err error
	if routed {
		err = h.responder.CheckAccept(r)
	}
	var f encoding.Format
	if err == nil {
		f, err = h.responder.Negotiate(r, encoding.NoTransformation)
	}
	if err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
	h.responder.WriteCached(w, r, f, document)
}

// localAddress returns the address of the server that the client connected to.
func localAddress(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addr.String()
	}
	return r.Host
}
