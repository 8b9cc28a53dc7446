package discovery

import (
	"encoding/json"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/miniapi/miniapi/api/encoding"
)

// Index returns the handler of /, which lists paths and the paths of all group versions.
func (h *Handlers) Index(paths []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		paths := slices.Clone(paths)
		for _, group := range h.cache.config.Catalog.Snapshot().Groups {
			root := "/api"
			if group.Name != "" {
				root = "/apis/" + group.Name
				paths = append(paths, root)
			}
			for _, version := range group.Versions {
				paths = append(paths, root+"/"+version)
			}
		}
		slices.Sort(paths)
		h.writeIndented(w, r, metav1.RootPaths{Paths: paths})
	}
}

// Version returns the handler of /version.
func (h *Handlers) Version(info version.Info) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h.writeIndented(w, r, info) }
}

// writeIndented sends a value in indented JSON.
func (h *Handlers) writeIndented(w http.ResponseWriter, r *http.Request, value any) {
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		h.responder.WriteError(w, r, err)
		return
	}
	h.responder.WriteResponse(w, r, encoding.Response{ContentType: "application/json", Status: http.StatusOK, Body: body})
}
