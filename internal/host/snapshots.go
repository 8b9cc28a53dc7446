package host

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"github.com/miniapi/miniapi"
)

// snapshots holds the snapshots of a server by ID. The zero value is empty.
type snapshots struct {
	mu     sync.Mutex // guards the fields below
	lastID int
	byID   map[string]*miniapi.Snapshot
}

// Limits of the snapshots of a server.
const (
	maxSnapshots     = 100
	maxSnapshotBytes = 1 << 30
)

func (s *snapshots) add(snapshot *miniapi.Snapshot) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := snapshot.Bytes()
	for _, held := range s.byID {
		size += held.Bytes()
	}
	if len(s.byID) >= maxSnapshots || size > maxSnapshotBytes {
		return "", &statusError{http.StatusTooManyRequests, fmt.Errorf("a server has at most %d snapshots and %d bytes of them: delete a snapshot", maxSnapshots, maxSnapshotBytes)}
	}
	if s.byID == nil {
		s.byID = map[string]*miniapi.Snapshot{}
	}
	s.lastID++
	id = strconv.Itoa(s.lastID)
	s.byID[id] = snapshot
	return id, nil
}

func (s *snapshots) get(id string) (*miniapi.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if snapshot, ok := s.byID[id]; ok {
		return snapshot, nil
	}
	return nil, &statusError{http.StatusNotFound, fmt.Errorf("no snapshot %q: it was deleted or belongs to another server", id)}
}

func (s *snapshots) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

func (s *server) reset(r *http.Request) (any, error) {
	var options ResetOptions
	if err := decode(r, &options); err != nil {
		return nil, err
	}
	return nil, s.running.Reset(r.Context(), miniapi.ResetOptions(options))
}

func (s *server) takeSnapshot(r *http.Request) (any, error) {
	snapshot, err := s.running.Snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	id, err := s.snapshots.add(snapshot)
	if err != nil {
		return nil, err
	}
	return Snapshot{ID: id}, nil
}

func (s *server) restore(r *http.Request) (any, error) {
	snapshot, err := s.snapshots.get(r.PathValue("snapshot"))
	if err != nil {
		return nil, err
	}
	return nil, s.running.Restore(r.Context(), snapshot)
}

func (s *server) deleteSnapshot(r *http.Request) (any, error) {
	if _, err := s.snapshots.get(r.PathValue("snapshot")); err != nil {
		return nil, err
	}
	s.snapshots.remove(r.PathValue("snapshot"))
	return nil, nil
}

// fork returns the options and the initial state of a server. Without options.Fork these are the
// given options and nil.
func (h *Host) fork(ctx context.Context, options ServerOptions) (ServerOptions, *miniapi.Snapshot, error) {
	if options.Fork == "" {
		return options, nil, nil
	}
	own := ServerOptions{
		Name: options.Name, Lease: options.Lease, PID: options.PID, Fork: options.Fork,
		LogLevel: options.LogLevel, LogRequests: options.LogRequests,
	}
	if !reflect.DeepEqual(own, options) {
		return options, nil, invalid(fmt.Errorf("beside fork only name, lease, pid, logLevel and logRequests can be set: the other options are those of server %s", options.Fork))
	}
	h.mu.Lock()
	origin, ok := h.servers[options.Fork]
	h.mu.Unlock()
	if !ok {
		return options, nil, notFound(options.Fork)
	}
	snapshot, err := origin.running.Snapshot(ctx)
	if err != nil {
		return options, nil, err
	}
	options = origin.options
	options.Name, options.Lease, options.PID, options.Fork = own.Name, own.Lease, own.PID, own.Fork
	options.LogLevel, options.LogRequests = own.LogLevel, own.LogRequests
	options.Address, options.Faults = "", nil
	options.CRDs, options.Manifests, options.DataDir = nil, "", "" // their objects are in the snapshot
	return options, snapshot, nil
}
