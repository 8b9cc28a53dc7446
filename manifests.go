package miniapi

import (
	"context"
	"fmt"

	"github.com/miniapi/miniapi/internal/manifests"
)

// InstallCRDs creates the CustomResourceDefinitions that are in the files and
// folders, or changes them to what is said there, and returns when all are
// served. A file holds YAML, of any number of documents, or JSON; of a folder,
// files with the usual extensions are read, but not the folders below it. What
// is no CustomResourceDefinition is passed over. The error names the file and
// the object of each that could not be installed.
func (s *Server) InstallCRDs(ctx context.Context, paths ...string) error {
	objects, err := manifests.Read(paths...)
	if err != nil {
		return err
	}
	applier, err := manifests.NewApplier(s.RESTConfig())
	if err != nil {
		return err
	}
	return applier.Apply(ctx, manifests.Definitions(objects))
}

func (s *Server) openManifests(context.Context) error {
	if s.config.Manifests == "" {
		return nil
	}
	applier, err := manifests.NewApplier(s.RESTConfig())
	if err != nil {
		return err
	}
	s.folder = manifests.NewFolder(s.config.Manifests, applier, s.config.Logger)
	return nil
}

// prepare fills the server, which answers by now, with what the config names.
func (s *Server) prepare(ctx context.Context) error {
	if len(s.config.CRDs) > 0 {
		if err := s.InstallCRDs(ctx, s.config.CRDs...); err != nil {
			return fmt.Errorf("definitions to serve (--crds): %w", err)
		}
	}
	if s.folder == nil {
		return nil
	}
	if err := s.folder.Load(ctx); err != nil {
		return fmt.Errorf("manifests to apply (--manifests): %w", err)
	}
	return nil
}
