package snapshots

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/memory"
	openapi "github.com/miniapi/miniapi/testapi/schema"
)

// Limits of the snapshots of a server.
const (
	MaxCount = 100
	MaxBytes = 1 << 30
)

// State is the state of all objects at one revision.
type State interface {
	// Revision returns the revision of the state.
	Revision() int64
	// Len returns the number of objects.
	Len() int
	// Bytes returns the size of the objects.
	Bytes() int64
}

// Config configures a Set. All fields are required.
type Config struct {
	// Take returns the present state.
	Take func(ctx context.Context) (State, error)
	// Restore brings all objects to a state that Take has returned.
	Restore func(ctx context.Context, state State) error
}

// Set holds the snapshots of a server. It is safe for concurrent use.
type Set struct {
	config Config
	store  *memory.Store
	// busy serializes creations, so that the limits hold, and restores.
	busy sync.Mutex

	mu     sync.Mutex // guards states
	states map[types.UID]State
}

// NewSet returns an empty set.
func NewSet(config Config) *Set {
	s := &Set{config: config, states: map[types.UID]State{}}
	s.store = memory.New(memory.Config{Codec: openapi.Codec{}, Commit: s.commit})
	return s
}

// commit frees the state of a deleted object. It is a memory.Config.Commit.
func (s *Set) commit(before, after *storage.Entry) error {
	if after != nil {
		return nil
	}
	obj, err := before.Object()
	if err != nil {
		return err
	}
	s.free(obj.(*unstructured.Unstructured).GetUID())
	return nil
}

func (s *Set) free(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.states, uid)
}

// objects is the storage of the objects of a Set. Create takes the snapshot.
type objects struct {
	*memory.Store
	set *Set
}

// Create implements storage.Interface.
func (o objects) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (*storage.Entry, error) {
	if opts.DryRun {
		return o.Store.Create(ctx, key, obj, opts)
	}
	o.set.busy.Lock()
	defer o.set.busy.Unlock()
	u := obj.DeepCopyObject().(*unstructured.Unstructured)
	if existing, err := o.Store.Get(ctx, key, storage.GetOptions{}); err == nil && existing != nil {
		return o.Store.Create(ctx, key, u, opts) // AlreadyExists
	}
	if err := o.set.take(ctx, u); err != nil {
		return nil, err
	}
	entry, err := o.Store.Create(ctx, key, u, opts)
	if err != nil {
		o.set.free(u.GetUID())
	}
	return entry, err
}

// take takes the snapshot of a new object and sets its status. The caller holds busy.
func (s *Set) take(ctx context.Context, u *unstructured.Unstructured) error {
	count, size := s.usage()
	if count >= MaxCount {
		return forbidden(u.GetName(), fmt.Sprintf("the server has %d snapshots, which is the limit: delete one of them", count))
	}
	state, err := s.config.Take(ctx)
	if err != nil {
		return err
	}
	if size+state.Bytes() > MaxBytes {
		return forbidden(u.GetName(), fmt.Sprintf("the snapshots of the server would have %d bytes, more than the limit of %d: delete one of them", size+state.Bytes(), MaxBytes))
	}
	u.Object["status"] = map[string]any{"revision": state.Revision(), "objects": int64(state.Len()), "bytes": state.Bytes()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[u.GetUID()] = state
	return nil
}

func forbidden(name, reason string) error {
	return apierrors.NewForbidden(groupResource, name, fmt.Errorf("%s", reason))
}

// usage returns the number and the size of the snapshots.
func (s *Set) usage() (count int, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.states {
		size += state.Bytes()
	}
	return len(s.states), size
}

// restore restores the snapshot of an object. It does not end with the request, because the objects
// would be between two states.
func (s *Set) restore(ctx context.Context, u *unstructured.Unstructured) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	s.mu.Lock()
	state, ok := s.states[u.GetUID()]
	s.mu.Unlock()
	if !ok {
		return apierrors.NewNotFound(groupResource, u.GetName())
	}
	return s.config.Restore(context.WithoutCancel(ctx), state)
}
