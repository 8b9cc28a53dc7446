package embedded

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Rev returns a revision that is at least as high as the revision of every acknowledged write and
// of every answered read. While etcd restarts, it is the highest revision returned before. It
// returns an error if ctx ends before etcd answers.
func (s *Server) Rev(ctx context.Context) (int64, error) {
	revision, err := callRunning(ctx, s, func(i *instance) (int64, error) { return i.etcd.KV().Rev(), nil })
	switch {
	case errors.Is(err, errRestarting):
		return s.revision.Load(), nil
	case err != nil:
		return 0, fmt.Errorf("read the revision of the embedded etcd: %w", err)
	}
	s.observeRevision(revision)
	return revision, nil
}

// Store returns etcd's store, and a channel that is closed when the store is replaced or the
// server has ended. It waits while etcd restarts.
func (s *Server) Store(ctx context.Context) (mvcc.WatchableKV, <-chan struct{}, error) {
	for {
		i, restarted := s.current()
		if !i.hasFailed() {
			return i.etcd.KV(), i.fatal.failed, nil
		}
		select {
		case <-restarted:
		case <-s.done:
			return nil, nil, errStopping
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// observeRevision records a revision that is returned to a client.
func (s *Server) observeRevision(revision int64) {
	for {
		latest := s.revision.Load()
		if revision <= latest || s.revision.CompareAndSwap(latest, revision) {
			return
		}
	}
}
