package miniapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
	"os"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/heartbeat"
	"github.com/miniapi/miniapi/kinds/feature"
)

// advertised returns the address of the HTTPS port for other hosts: a port on all addresses has the
// address of the default route, as in kube-apiserver. The result is invalid without HTTPS. Only
// the full bootstrap contains the address.
func (s *Server) advertised() netip.Addr {
	address := s.listener.SecureAddr()
	if s.config.Bootstrap != bootstrap.Full || !address.IsUnspecified() {
		return address
	}
	chosen, err := utilnet.ResolveBindAddress(net.IP(address.AsSlice()))
	if err != nil {
		s.config.Logger.Info("the Service default/kubernetes has no endpoints", "error", err)
		return netip.Addr{}
	}
	address, _ = netip.AddrFromSlice(chosen)
	return address.Unmap()
}

// idHash returns the hash of the ID of the server, a label of metrics in kube-apiserver. It is
// empty if the feature APIServerIdentity is off.
func (s *Server) idHash() string {
	hostname, err := os.Hostname()
	if err != nil || !s.features.Enabled(feature.APIServerIdentity) {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(heartbeat.Name(hostname, s.listener.Port()))))
}

// newIdentityLease returns nil if the server has no identity lease.
func (s *Server) newIdentityLease() (*heartbeat.Lease, error) {
	if s.config.Bootstrap != bootstrap.Full || !s.features.Enabled(feature.APIServerIdentity) {
		return nil, nil
	}
	return heartbeat.New(heartbeat.Config{
		Catalog: s.catalog, Port: s.listener.Port(), Clock: s.clock, Logger: s.config.Logger,
	})
}

// advertise writes the address of the server to the objects that name it, and keeps the identity
// lease, until ctx ends. An error is logged, because the server does not need these objects.
func (s *Server) advertise(ctx context.Context) error {
	if err := bootstrap.UpdateEndpoints(ctx, s.catalog, s.bootstrap); err != nil && ctx.Err() == nil {
		s.config.Logger.ErrorContext(ctx, "the address of this server is not published", "error", err)
	}
	if s.identityLease == nil {
		return nil
	}
	return s.identityLease.Run(ctx)
}
