package embedded

import (
	"context"

	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Rev returns the revision up to which everything is applied: no write was
// acknowledged, and nothing was read, that is not in it. While etcd is restarted
// it is the latest that was returned before.
func (s *Server) Rev() int64 {
	i, err := s.running()
	if err != nil {
		return s.revision.Load()
	}
	revision := i.etcd.KV().Rev()
	s.raise(revision)
	return revision
}

// Store returns etcd's store, and a channel that is closed when another has taken
// its place or the server has ended. It waits for a restart of etcd.
func (s *Server) Store(ctx context.Context) (mvcc.WatchableKV, <-chan struct{}, error) {
	for {
		i, restarted := s.current()
		if !i.hasFailed() {
			return i.etcd.KV(), i.guard.failed, nil
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

// raise remembers a revision that is returned to a client.
func (s *Server) raise(revision int64) {
	for {
		latest := s.revision.Load()
		if revision <= latest || s.revision.CompareAndSwap(latest, revision) {
			return
		}
	}
}
