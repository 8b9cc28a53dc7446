package embedded

import (
	"context"

	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Rev returns a revision that is at least as high as the revision of every acknowledged write and
// of every answered read. While etcd restarts, it is the highest revision returned before.
func (s *Server) Rev() int64 {
	i, err := s.running()
	if err != nil {
		return s.revision.Load()
	}
	revision := i.etcd.KV().Rev()
	s.observeRevision(revision)
	return revision
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
