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
	// custom writes the documents of groups with custom resources only, for which kube-apiserver
	// does not support CBOR.
	custom *encoding.Responder
}

// NewHandlers returns the handlers of a Cache.
func NewHandlers(cache *Cache, responder *encoding.Responder) *Handlers {
	return &Handlers{cache, responder, responder.WithoutCBOR()}
}

// ServeLegacyVersions serves /api.
func (h *Handlers) ServeLegacyVersions(w http.ResponseWriter, r *http.Request) {
	if err := h.responder.CheckAccept(r); err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
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
	servePlain(h.responder, w, r, group)
}

// ServeResources returns the handler of /api/{version} and /apis/{group}/{version}. Other methods
// than GET and HEAD of an existing version get to notAllowed.
func (h *Handlers) ServeResources(notAllowed http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d := h.cache.Documents(r.Context()).discovery()
		gv := schema.GroupVersion{Group: chi.URLParam(r, "group"), Version: chi.URLParam(r, "version")}
		resources, ok := d.resources[gv]
		switch {
		case !ok && d.builtIn[gv.Group]:
			h.responder.WriteError(w, r, encoding.GenericError(http.StatusNotFound, ""))
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			notAllowed(w, r)
		case d.builtIn[gv.Group]:
			h.serveBuiltIn(w, r, resources)
		default:
			servePlain(h.custom, w, r, resources)
		}
	}
}

func (h *Handlers) serveBuiltIn(w http.ResponseWriter, r *http.Request, resources *encoding.CachedObject) {
	if err := h.responder.CheckAccept(r); err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
	servePlain(h.responder, w, r, resources)
}

// servePlain sends a document.
func servePlain(responder *encoding.Responder, w http.ResponseWriter, r *http.Request, document *encoding.CachedObject) {
	f, err := responder.Negotiate(r, encoding.NoTransformation)
	if err != nil {
		responder.WriteError(w, r, err)
		return
	}
	responder.WriteCached(w, r, f, document)
}

// localAddress returns the address of the server that the client connected to.
func localAddress(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addr.String()
	}
	return r.Host
}
