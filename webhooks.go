package miniapi

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/internal/webhooks"
	"github.com/miniapi/miniapi/registry"
)

// resolver finds the Services that webhooks name.
func (s *Server) resolver() webhooks.ResolveFunc {
	if resolve := s.config.ResolveService; resolve != nil {
		return func(ctx context.Context, service webhooks.Service) (string, error) {
			return resolve(ctx, service.Namespace, service.Name, service.Port)
		}
	}
	return webhooks.ClusterIP(func() (*registry.Store, bool) { return s.storeOf(corev1.Resource("services")) })
}
