package miniapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/datastore"
	"github.com/miniapi/miniapi/storage/etcd"
)

// Revisions are the revisions of a read-only server.
type Revisions = datastore.Revisions

// Revisions returns the revisions of a read-only server, zero for other servers.
func (s *Server) Revisions() Revisions { return s.datastore.Revisions() }

// readOnly reports whether the server writes nothing to etcd.
func (c Config) readOnly() bool { return c.ReadOnly || c.FromSnapshot != "" }

// errReadOnly is returned by Reset and Restore of a read-only server.
var errReadOnly = errors.New("the server is read-only")

// validateReadOnly returns the errors of options that need writes, or an etcd of another kind.
func (c Config) validateReadOnly() error {
	var errs []error
	switch {
	case c.FromSnapshot != "":
		errs = append(errs, c.validateSnapshot())
	case c.ReadOnly && c.DataDir != "":
		errs = append(errs, errors.New("--read-only is for --etcd-servers: use --from-snapshot DIR to read a data directory without writing to it"))
	case c.ReadOnly && len(c.EtcdServers) == 0:
		errs = append(errs, errors.New("--read-only is for --etcd-servers: name an etcd, or remove it"))
	case c.AtRevision != 0 && !c.ReadOnly:
		errs = append(errs, errors.New("--at-revision is for a read-only server: set --from-snapshot, or --etcd-servers with --read-only"))
	}
	if c.AtRevision < 0 {
		errs = append(errs, fmt.Errorf("--at-revision %d is negative: use a revision of etcd, or 0 for the latest one", c.AtRevision))
	}
	if c.readOnly() {
		errs = append(errs, c.validateWithoutWrites())
	}
	return errors.Join(errs...)
}

// option is a flag, or a field without a flag, and whether it is set.
type option struct {
	name string
	set  bool
}

func (c Config) validateSnapshot() error {
	var errs []error
	for _, option := range []option{
		{"--data-dir", c.DataDir != ""},
		{"--etcd-servers", len(c.EtcdServers) > 0},
		{"--etcd-listen-client-url", len(c.EtcdListenClientURLs) > 0},
		{"--etcd-quota-backend-bytes", c.EtcdQuotaBackendBytes != 0},
	} {
		if option.set {
			errs = append(errs, fmt.Errorf("%s cannot be combined with --from-snapshot: remove one of them", option.name))
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateWithoutWrites() error {
	var errs []error
	for _, option := range []option{
		{"--crds", len(c.CRDs) > 0},
		{"--manifests", c.Manifests != ""},
		{"--bootstrap=full", c.Bootstrap == bootstrap.Full},
		{"--pods=instant", c.Pods == PodsInstant},
		{"Config.Snapshot", c.Snapshot != nil},
	} {
		if option.set {
			errs = append(errs, fmt.Errorf("%s writes objects, which a read-only server cannot do: remove it", option.name))
		}
	}
	return errors.Join(errs...)
}

// rejection returns the reason for which a read-only server rejects writes, "" for other servers.
func (s *Server) rejection() string {
	shown := s.Revisions().Shown
	switch {
	case !s.config.readOnly():
		return ""
	case s.config.FromSnapshot != "":
		return fmt.Sprintf("the server is read-only: it serves the snapshot %s at revision %d", s.config.FromSnapshot, shown)
	case shown != 0:
		return fmt.Sprintf("the server is read-only: it serves etcd at revision %d", shown)
	default:
		return "the server is read-only (--read-only)"
	}
}

// seed writes the initial objects, except on a read-only server.
func (s *Server) seed(ctx context.Context) error {
	if s.config.readOnly() {
		return nil
	}
	if snapshot := s.config.Snapshot; snapshot != nil {
		_, err := s.datastore.Backend().Restore(ctx, snapshot.state, etcd.RestoreOptions{Unwatched: true})
		return err
	}
	return bootstrap.Seed(ctx, s.datastore.Backend(), s.config.Bootstrap, s.bootstrap, s.config.Logger)
}

// awaitDefinitions blocks until a server with existing definitions serves them, so that its first
// response includes the custom resources.
func (s *Server) awaitDefinitions(ctx context.Context) {
	if s.config.Snapshot != nil || s.config.readOnly() {
		s.syncWithin(ctx, startTimeout)
	}
}
