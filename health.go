package miniapi

import (
	"context"
	"errors"
	"time"

	"github.com/miniapi/miniapi/api/healthz"
)

// certificateChecks returns the health check of the serving certificate.
func (s *Server) certificateChecks() []healthz.Check {
	if s.identity.serving == nil {
		return nil
	}
	check := func(context.Context) error { return s.identity.certificate.Get().CheckTime(time.Now()) }
	return []healthz.Check{{Name: "serving-certificate", Check: check, ShowReason: true}}
}

// readinessChecks returns the checks of /readyz for conditions that a restart does not resolve.
func (s *Server) readinessChecks() []healthz.Check {
	return []healthz.Check{
		{Name: "etcd-readiness", Check: s.datastore.Ready},
		{Name: "watch-cache", Check: s.datastore.WatchCacheLag, ShowReason: true},
		{Name: "informer-sync", Check: s.checkInformers, ShowReason: true},
		{Name: "storage-space", Check: s.datastore.SpaceProblem, ShowReason: true},
	}
}

// checkInformers waits until the catalog serves all CustomResourceDefinitions and APIServices.
func (s *Server) checkInformers(ctx context.Context) error {
	if err := s.crds.Sync(ctx); err != nil {
		return errors.New("the CustomResourceDefinitions are not synced")
	}
	if s.config.readOnly() {
		return nil
	}
	if err := s.aggregator.Sync(ctx); err != nil {
		return errors.New("the APIServices are not synced")
	}
	return nil
}
