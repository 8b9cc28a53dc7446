package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
)

// Seed writes the objects of a mode that do not exist yet. If the database is full, it logs an
// error and returns nil, so that the server can start and objects can be deleted.
func Seed(ctx context.Context, backend *etcd.Backend, mode Mode, cfg Config, logger *slog.Logger) error {
	objects, err := Objects(mode, cfg)
	if err != nil {
		return err
	}
	seeds := make([]etcd.Seed, len(objects))
	for i, object := range objects {
		seeds[i] = etcd.Seed(object)
	}
	err = backend.Seed(ctx, seeds)
	if errors.Is(err, storage.ErrNoSpace) {
		logger.ErrorContext(ctx, "bootstrap objects are missing: the database is full", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the bootstrap objects: %w", err)
	}
	return nil
}
