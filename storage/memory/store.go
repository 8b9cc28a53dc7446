package memory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// Config configures a Store. Only Codec has no default.
type Config struct {
	Codec storage.Codec
	// Commit is called with each change before it is visible, one change at a time. Before is nil
	// for a new object, after for a deletion. Its error rejects the write. It must not call the
	// store. Nil: all changes are accepted.
	Commit func(before, after *storage.Entry) error
	// Refresh is called before each read and may write. Nil: nothing is called.
	Refresh func()
}

// Store is a storage.Interface.
type Store struct {
	config    Config
	versioner versioner.APIObjectVersioner
	decoder   *storage.Decoder
	watches   atomic.Int64

	mu       sync.RWMutex // guards the fields below
	entries  map[string]*storage.Entry
	revision int64
	// window are the latest changes, and since the revision after which it has all of them.
	window []change
	since  int64
	// changed is closed and replaced with each change.
	changed chan struct{}
}

// change is a change of one key. Nil stands for an absent object.
type change struct {
	revision      int64
	before, after *storage.Entry
}

// maxWindow limits the changes from which a watch can resume.
const maxWindow = 1024

var _ storage.Interface = (*Store)(nil)

// New returns an empty store at revision 1. It starts nothing.
func New(config Config) *Store {
	s := &Store{config: config, entries: map[string]*storage.Entry{}, revision: 1, since: 1, changed: make(chan struct{})}
	s.decoder = storage.NewDecoder(config.Codec, s.versioner)
	return s
}

// Versioner implements storage.Interface.
func (s *Store) Versioner() versioner.Versioner { return s.versioner }

// Watched reports whether a watch is open.
func (s *Store) Watched() bool { return s.watches.Load() > 0 }

func (s *Store) refresh() {
	if s.config.Refresh != nil {
		s.config.Refresh()
	}
}

// state returns the entries below a prefix in the order of keys, and the revision.
func (s *Store) state(prefix string) ([]*storage.Entry, int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []*storage.Entry
	for _, key := range slices.Sorted(maps.Keys(s.entries)) {
		if strings.HasPrefix(key, prefix) {
			list = append(list, s.entries[key])
		}
	}
	return list, s.revision
}

// entry returns the entry under a key, nil for an absent one, and the revision of the store.
func (s *Store) entry(key string) (*storage.Entry, int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.entries[key], s.revision
}

// replace replaces the entry under a key by the entry of data, or deletes it if data is nil. It
// returns nil without an error if the key has another entry than before.
func (s *Store) replace(key string, before *storage.Entry, data []byte) (*storage.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[key] != before {
		return nil, nil
	}
	revision := s.revision + 1
	var after *storage.Entry
	if data != nil {
		after = s.decoder.Entry(key, revision, data)
	}
	if s.config.Commit != nil {
		if err := s.config.Commit(before, after); err != nil {
			return nil, err
		}
	}
	s.revision = revision
	s.publish(change{revision, before, after})
	if after == nil {
		delete(s.entries, key)
		return before.At(revision), nil
	}
	s.entries[key] = after
	return after, nil
}

// publish adds a change to the window. It requires mu.
func (s *Store) publish(c change) {
	s.window = append(s.window, c)
	if len(s.window) > maxWindow {
		s.since = s.window[0].revision
		s.window = slices.Clone(s.window[1:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// encode returns the bytes of an object, which it does not modify.
func (s *Store) encode(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, errors.New("the proposal has no object")
	}
	obj = obj.DeepCopyObject()
	if err := s.versioner.PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	return s.config.Codec.Encode(obj)
}

// checkRevision returns an error if a revision is ahead of the store.
func checkRevision(op, key string, requested, current int64) error {
	if requested > current {
		return failed(op, key, &storage.FutureRevisionError{Requested: requested, Current: current})
	}
	return nil
}

func failed(op, key string, err error) error { return &storage.KeyError{Op: op, Key: key, Err: err} }

// Count implements storage.Interface.
func (s *Store) Count(_ context.Context, key string) (int64, error) {
	entries, _ := s.state(below(key))
	return int64(len(entries)), nil
}

// below returns the prefix of the keys below a key.
func below(key string) string { return strings.TrimSuffix(key, "/") + "/" }
