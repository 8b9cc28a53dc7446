package miniapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/testapi/snapshots"
)

// Snapshot is the state of all objects of a server at one revision. It is immutable, and can be
// restored any number of times, also after the end of the server. A server that starts with it has
// the time of the API as advanced as it was; Restore does not change the time.
type Snapshot struct {
	state    *etcd.Snapshot
	advanced time.Duration // how far the time of the API was advanced
}

// Snapshot returns the present state of all objects.
func (s *Server) Snapshot(ctx context.Context) (*Snapshot, error) {
	state, err := s.datastore.Backend().Snapshot(ctx, 0)
	if err != nil {
		return nil, err
	}
	return &Snapshot{state, s.clock.Advanced()}, nil
}

// Restore brings all objects to the state of a snapshot of this server or of another server with
// the same configuration. Objects that differ are written or deleted, without admission, and
// finalizers are ignored. Each write has a new resourceVersion, so resourceVersions never decrease,
// and watches and informers see the changes as events. The built-in controllers are suspended. When
// Restore returns, the server serves the CustomResourceDefinitions of the snapshot.
//
// A write of a client during the call may be lost or may remain. After an error the state is
// between the present state and the snapshot, and Restore can be repeated.
func (s *Server) Restore(ctx context.Context, snapshot *Snapshot) error {
	if s.config.readOnly() {
		return errReadOnly
	}
	return s.restore(ctx, snapshot.state)
}

func (s *Server) restore(ctx context.Context, state *etcd.Snapshot) error {
	defer s.controllers.Suspend()() // they could delete restored objects
	err := s.datastore.Restore(ctx, state, etcd.RestoreOptions{Replaced: isReplaced})
	s.catalog.CountWrites() // also after an error: a part may be written
	if err != nil {
		return err
	}
	s.sync(ctx)
	return nil
}

// Bytes returns the size of the objects.
func (s *Snapshot) Bytes() int64 { return s.state.Bytes() }

// takeSnapshot and restoreSnapshot serve the resource snapshots of the test APIs.
func (s *Server) takeSnapshot(ctx context.Context) (snapshots.State, error) {
	return s.datastore.Backend().Snapshot(ctx, 0)
}

func (s *Server) restoreSnapshot(ctx context.Context, state snapshots.State) error {
	return s.restore(ctx, state.(*etcd.Snapshot))
}

// isReplaced reports whether two stored values are objects with different UIDs. A value that cannot
// be read has no UID.
func isReplaced(present, restored []byte) bool {
	before, beforeErr := reconcile.ParseMetadata(present)
	after, afterErr := reconcile.ParseMetadata(restored)
	return beforeErr == nil && afterErr == nil && before.UID != after.UID
}

// ResetOptions are the options of Reset.
type ResetOptions struct {
	// KeepCRDs keeps the CustomResourceDefinitions that are installed now. Their objects are
	// deleted. CustomResourceDefinitions of Config.CRDs are always kept.
	KeepCRDs bool
}

// errNoReset is returned by Reset.
var errNoReset = errors.New("a server with an etcd cluster cannot be reset: other servers may use it")

// Reset restores the state at the end of Start, see Restore, with the faults of the configuration.
// A server with Config.DataDir can be reset as long as it has the history since its start, see
// Config.CompactionInterval.
func (s *Server) Reset(ctx context.Context, options ResetOptions) error {
	if s.config.readOnly() {
		return errReadOnly
	}
	if s.shared() {
		return errNoReset
	}
	s.faults.RemoveAll()
	return errors.Join(s.reset(ctx, options), s.addFaults())
}

func (s *Server) reset(ctx context.Context, options ResetOptions) error {
	state, err := s.initial.load(ctx)
	if errors.Is(err, storage.ErrCompacted) {
		return fmt.Errorf("the history since the start of the server was compacted, so it cannot be reset: %w", err)
	}
	if err != nil {
		return err
	}
	if options.KeepCRDs {
		present, err := s.datastore.Backend().Snapshot(ctx, 0)
		if err != nil {
			return err
		}
		state = state.Replace(s.definitionsKey(), present)
	}
	return s.restore(ctx, state)
}

// definitionsKey returns the prefix of the keys of CustomResourceDefinitions.
func (s *Server) definitionsKey() string {
	store, _ := s.store(schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"})
	return "/" + store.Resource().StoragePath + "/"
}

// Fork starts a server with the present objects of s and the configuration of s. It is independent
// of s: it has its own temporary directory, free loopback ports, and, unless files are configured,
// its own keys and certificates. ResourceVersions of s mean nothing to it, and it has no
// faults. Files of CRDs and manifests are not read again. A fork of a read-only server can be
// written, and has no controllers.
func (s *Server) Fork(ctx context.Context) (*Server, error) {
	snapshot, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	config := s.config
	config.Snapshot = snapshot
	config.CRDs, config.Manifests, config.Faults = nil, "", nil
	config.DataDir, config.EtcdListenClientURLs = "", nil
	config.EtcdServers, config.EtcdTLS = nil, nil
	config.FromSnapshot, config.ReadOnly, config.AtRevision = "", false, 0
	if config.Listen != "" {
		config.Listen = freePort
	}
	if config.Secure != nil {
		secure := *config.Secure
		secure.Listen = freePort
		config.Secure = &secure
	}
	return Start(ctx, config)
}

// freePort is the address of a free loopback port.
const freePort = "127.0.0.1:0"

// initialState is the state at the end of the start. It is read from the history when it is needed
// for the first time: by Reset, or before a compaction of a server with a temporary directory.
type initialState struct {
	mu       sync.Mutex // guards the fields below
	backend  *etcd.Backend
	revision int64
	// temporary is set if the state is kept when the history is compacted. In a data directory the
	// state may be too large for memory.
	temporary bool
	state     *etcd.Snapshot
}

// record records the present revision as the initial one.
func (i *initialState) record(ctx context.Context, s *Server) error {
	if s.shared() || s.config.readOnly() {
		return nil
	}
	backend := s.datastore.Backend()
	i.mu.Lock() // before the read, so that keep finds every revision that a compaction can remove
	defer i.mu.Unlock()
	revision, err := backend.CurrentRevision(ctx)
	if err != nil {
		return err
	}
	i.backend, i.revision, i.temporary = backend, revision, s.config.DataDir == ""
	return nil
}

// load returns the initial state. The error wraps ErrCompacted if the history is gone.
func (i *initialState) load(ctx context.Context) (*etcd.Snapshot, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state != nil {
		return i.state, nil
	}
	state, err := i.backend.Snapshot(ctx, i.revision)
	if err != nil {
		return nil, err
	}
	i.state = state
	return state, nil
}

// keep loads the initial state before a compaction.
func (i *initialState) keep(ctx context.Context) {
	i.mu.Lock()
	temporary := i.temporary
	i.mu.Unlock()
	if temporary {
		_, _ = i.load(ctx) // Reset returns the error
	}
}
