package miniapi

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"

	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
)

// seed writes the bootstrap objects that do not exist. A full database is served
// without them, so that objects can be deleted from it.
func (s *Server) seed(ctx context.Context) error {
	ranges, err := parseServiceRanges(s.config.ServiceClusterIPRange)
	if err != nil {
		return err
	}
	objects, err := bootstrap.Objects(s.config.Bootstrap, bootstrap.Config{
		ServiceRanges: ranges,
		Port:          s.main().Addr().(*net.TCPAddr).Port,
		AccessRoles:   s.config.Authorization.has(RBAC),
	})
	if err != nil {
		return err
	}
	seeds := make([]etcd.Seed, len(objects))
	for i, o := range objects {
		seeds[i] = etcd.Seed{Key: o.Key, Value: o.Value}
	}
	err = s.backend.Seed(ctx, seeds)
	if errors.Is(err, storage.ErrNoSpace) {
		s.config.Logger.ErrorContext(ctx, "bootstrap objects are missing, the server starts without them", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the bootstrap objects: %w", err)
	}
	return nil
}

// errorLog takes what net/http has to say, such as a failed handshake.
func errorLog(logger *slog.Logger) *log.Logger {
	return slog.NewLogLogger(logger.With("component", "http").Handler(), slog.LevelDebug)
}
