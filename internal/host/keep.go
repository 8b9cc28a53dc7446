package host

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/miniapi/miniapi/internal/kubeconfig"
	"github.com/miniapi/miniapi/internal/tempdir"
)

// kept is the state of a server that outlives its lease.
type kept struct {
	idleTimeout time.Duration

	mu      sync.Mutex   // guards the fields below
	dir     *tempdir.Dir // with the kubeconfig; nil: the server is not kept
	stopped bool         // the server has stopped
}

const kubeconfigName = "kubeconfig"

// keep lets the server outlive its lease. It is idempotent.
func (s *server) keep(*http.Request) (any, error) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if s.kept.stopped {
		return nil, notFound(s.id)
	}
	if s.kept.dir == nil {
		dir, err := s.writeKubeconfig()
		if err != nil {
			return nil, err
		}
		s.kept.dir = dir
		go s.stopWhenIdle(time.Now()) // ends with the server
	}
	return Kept{
		Kubeconfig:  filepath.Join(s.kept.dir.Path(), kubeconfigName),
		IdleTimeout: s.kept.idleTimeout.String(),
	}, nil
}

// writeKubeconfig returns a new directory with the kubeconfig of the administrator.
func (s *server) writeKubeconfig() (*tempdir.Dir, error) {
	data, err := kubeconfig.Encode(s.running.RESTConfig())
	if err != nil {
		return nil, err
	}
	dir, err := tempdir.New("kept")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir.Path(), kubeconfigName), data, 0o600); err != nil {
		_ = dir.Remove()
		return nil, err
	}
	return dir, nil
}

// stopWhenIdle stops the server when it has had no request since the given time, or later, for the
// idle timeout.
func (s *server) stopWhenIdle(since time.Time) {
	for {
		if last := s.lastRequest(); last.After(since) {
			since = last
		}
		left := s.kept.idleTimeout - time.Since(since)
		if left <= 0 {
			_ = s.stop()
			return
		}
		select {
		case <-time.After(left):
		case <-s.running.Done():
			return
		}
	}
}

// lastRequest returns the time of the last request: now if one is open.
func (s *server) lastRequest() time.Time {
	if len(s.running.OpenRequests()) > 0 {
		return time.Now()
	}
	requests := s.running.Requests()
	if len(requests) == 0 {
		return time.Time{}
	}
	last := requests[len(requests)-1]
	return last.Time.Add(last.Duration)
}

// endLease stops the server, unless it is kept.
func (s *server) endLease() {
	s.kept.mu.Lock()
	isKept := s.kept.dir != nil
	s.kept.mu.Unlock()
	if !isKept {
		_ = s.stop()
	}
}

// remove removes the kubeconfig of a kept server that has stopped.
func (k *kept) remove() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	if k.dir == nil {
		return nil
	}
	return k.dir.Remove()
}
