package miniapi

import (
	"context"

	"github.com/miniapi/miniapi/testapi/activity"
)

// status returns the content of the resource servers.miniapi.dev.
func (s *Server) status(ctx context.Context) (*activity.Server, error) {
	database, err := s.datastore.Backend().Status(ctx)
	if err != nil {
		return nil, err
	}
	return &activity.Server{
		Version: Version(), Kubernetes: kubernetesVersion(s.features.Release()).GitVersion,
		Revision: database.Revision, Oldest: database.Oldest,
		Retention: int64(max(s.config.CompactionInterval, 0).Seconds()),
		Size:      database.Size, InUse: database.InUse, Quota: database.Quota,
		Requests: int64(len(s.api.OpenRequests())), Watches: int64(len(s.api.OpenWatches())),
	}, nil
}
