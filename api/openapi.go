package api

import (
	"github.com/go-chi/chi/v5"

	"github.com/miniapi/miniapi/registry"
)

type openAPI struct{}

func newOpenAPI(*registry.Snapshot, Config) *openAPI { return &openAPI{} }

func (s *Server) openAPIRoutes(chi.Router) {}
