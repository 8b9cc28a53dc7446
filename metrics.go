package miniapi

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
)

// collectors returns the metrics of all parts that are not in the HTTP API.
func (s *Server) collectors() []prometheus.Collector {
	reloads := collectors.All{s.authorizer.Reloads(), s.identity.credentials.Reloads()}
	if encryption := s.datastore.Encryption(); encryption != nil {
		reloads = append(reloads, encryption.Reloads())
	}
	return slices.Concat(s.datastore.Collectors(), s.identity.credentials.Collectors(), []prometheus.Collector{
		s.authorizer.Collector(), s.flows.Collector(), s.admission.Metrics(), s.controllers.Collector(),
		prometheus.WrapCollectorWith(prometheus.Labels{"apiserver_id_hash": s.idHash()}, reloads),
	})
}
