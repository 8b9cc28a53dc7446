package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/munnerz/goautoneg"

	"github.com/miniapi/miniapi/api/discovery"
	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/openapi"
)

// gnosticTypes are the content types of the protobuf encoding of each OpenAPI version. Responses
// have the last; old clients request the first.
var gnosticTypes = map[string][]string{
	"v2": {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
	"v3": {"application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"},
}

func (s *Server) serveOpenAPIV2(w http.ResponseWriter, r *http.Request) {
	document, err := s.documents.Documents(r.Context()).OpenAPI().V2()
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	s.writeOpenAPI(w, r, "v2", document)
}

// serveOpenAPIIndex serves the URLs of all documents of version 3.
func (s *Server) serveOpenAPIIndex(w http.ResponseWriter, r *http.Request) {
	index, err := s.documents.Documents(r.Context()).OpenAPI().Index()
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	etag := discovery.ETag(index)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	// kube-apiserver has the same content type.
	s.responder.WriteResponse(w, r, encoding.Response{ContentType: "text/plain; charset=utf-8", Status: http.StatusOK, Body: index})
}

// serveOpenAPIV3 serves the document of a group version, or forwards the request to the server that
// has it. A response to a URL with the hash of the document may be cached without limit. A URL with
// another hash redirects to the current one.
func (s *Server) serveOpenAPIV3(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(chi.URLParam(r, "*"), "/")
	documents := s.documents.Documents(r.Context())
	if remote, ok := documents.RemoteOpenAPI(path); ok {
		if handler, ok := s.remote(remote.GroupVersion); ok {
			s.proxy(w, r, handler)
			return
		}
	}
	document, err := documents.OpenAPI().V3(path)
	if err != nil {
		s.responder.WriteError(w, r, err)
		return
	}
	if document == nil {
		http.NotFound(w, r)
		return
	}
	if hash := r.URL.Query().Get("hash"); hash != "" {
		if hash != document.Hash {
			http.Redirect(w, r, "/openapi/v3/"+path+"?hash="+document.Hash, http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	s.writeOpenAPI(w, r, "v3", document)
}

// writeOpenAPI sends a document in JSON or protobuf.
func (s *Server) writeOpenAPI(w http.ResponseWriter, r *http.Request, version string, document *openapi.Document) {
	contentType, ok := openAPIType(r.Header.Get("Accept"), gnosticTypes[version])
	if !ok {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	etag := strconv.Quote(document.Hash)
	w.Header().Set("Vary", "Accept")
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := document.JSON()
	if contentType != "application/json" {
		var err error
		if body, err = document.Protobuf(); err != nil {
			s.responder.WriteError(w, r, err)
			return
		}
	}
	s.responder.WriteResponse(w, r, encoding.Response{ContentType: contentType, Status: http.StatusOK, Body: body})
}

// openAPIType returns the content type that an Accept header selects: JSON or protobuf. ok is false
// if it accepts neither.
func openAPIType(accept string, gnostic []string) (contentType string, ok bool) {
	if accept == "" {
		accept = "*/*"
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if encoding.Accepts(clause, "application/json") {
			return "application/json", true
		}
		for _, name := range gnostic {
			if encoding.Accepts(clause, name) {
				return gnostic[len(gnostic)-1], true
			}
		}
	}
	return "", false
}
