package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/miniapi/miniapi/api/encoding"
)

// OpenIDKeysPath is the path of the keys that verify tokens. The OpenID configuration refers to it.
const OpenIDKeysPath = "/openid/v1/jwks"

const openIDConfigurationPath = "/.well-known/openid-configuration"

// OpenID has the JSON documents for verifiers of the tokens that the server issues.
type OpenID interface {
	Configuration() ([]byte, error)
	Keys() ([]byte, error)
}

func (s *Server) openIDRoutes(r chi.Router) {
	if s.config.OpenID == nil {
		return
	}
	serve := func(contentType string, document func() ([]byte, error)) http.HandlerFunc {
		return s.onlyGet(s.produces(contentType, func(w http.ResponseWriter, r *http.Request) {
			body, err := document()
			if err != nil {
				s.responder.WriteError(w, r, err)
				return
			}
			w.Header().Set("Cache-Control", "public, max-age=3600")
			s.responder.WriteResponse(w, r, encoding.Response{ContentType: contentType, Status: http.StatusOK, Body: body})
		}))
	}
	handleSlash(r, openIDConfigurationPath, serve("application/json", s.config.OpenID.Configuration))
	handleSlash(r, OpenIDKeysPath, serve("application/jwk-set+json", s.config.OpenID.Keys))
}

// openIDPaths returns the paths of openIDRoutes, for the index.
func (s *Server) openIDPaths() []string {
	if s.config.OpenID == nil {
		return nil
	}
	return []string{openIDConfigurationPath, OpenIDKeysPath}
}
