package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/memory"
	openapi "github.com/miniapi/miniapi/testapi/schema"
)

// Group is the API group of the test APIs. Faults never select its requests.
const Group = "miniapi.dev"

// Config configures a Set. All fields are required.
type Config struct {
	// Intervene writes the object of a request, see Conflict.InterveningWrite.
	Intervene func(ctx context.Context, target request.Target) error
	// Labels returns the labels of the object of a request, see Match.LabelSelector.
	Labels func(r *http.Request) labels.Set
	// Revision returns the present revision of the storage.
	Revision func(ctx context.Context) (int64, error)
	// Compact removes the history of the storage up to the present.
	Compact func(ctx context.Context) error
	// Now returns the time of the API.
	Now func() time.Time
}

// Set holds the faults of a server. It is safe for concurrent use.
type Set struct {
	config Config
	// store has the faults as objects of the API. Each change of it changes active.
	store *memory.Store
	// active is the list of faults, which does not change. Nil: none.
	active atomic.Pointer[[]*Active]
	// number counts the faults without a name.
	number atomic.Int64
	mu     sync.Mutex // serializes changes of active
}

// NewSet returns an empty set.
func NewSet(config Config) *Set {
	s := &Set{config: config}
	s.store = memory.New(memory.Config{Codec: openapi.Codec{}, Commit: s.commit, Refresh: s.refresh})
	return s
}

// Add adds a fault, after all others. The error names the invalid fields, or says that a fault with
// the same name exists.
func (s *Set) Add(fault Fault) (*Active, error) {
	if err := fault.Validate(); err != nil {
		return nil, err
	}
	for generated := fault.Name == ""; ; {
		if generated {
			fault.Name = fmt.Sprintf("%s-%d", fault.Effect.name(), s.number.Add(1))
		}
		err := s.create(fault)
		switch {
		case err == nil:
			return s.Get(fault.Name)
		case !errors.Is(err, storage.ErrExists):
			return nil, err
		case !generated:
			return nil, fmt.Errorf("fault %s: another fault has the same name", fault.Name)
		}
	}
}

func (s *Set) create(fault Fault) error {
	obj, err := newObject(fault, s.config.Now())
	if err == nil {
		_, err = s.store.Create(context.Background(), keyOf(fault.Name), obj, storage.CreateOptions{})
	}
	return err
}

// commit changes active as the store changes. It is a memory.Config.Commit.
func (s *Set) commit(before, after *storage.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next *Active
	if after != nil {
		fault, err := faultIn(after)
		if err != nil {
			return err
		}
		if i := s.index(fault.Name); i >= 0 && s.List()[i].describes(fault) {
			return nil
		}
		if next, err = s.activate(fault); err != nil {
			return err
		}
	}
	if before == nil {
		s.setActive(append(slices.Clone(s.List()), next))
		return nil
	}
	i, list := s.index(nameOf(before.Key)), slices.Clone(s.List())
	list[i].end()
	if list[i] = next; next == nil {
		list = slices.Delete(list, i, i+1)
	}
	s.setActive(list)
	return nil
}

// setActive requires mu.
func (s *Set) setActive(list []*Active) {
	if len(list) == 0 {
		s.active.Store(nil)
		return
	}
	s.active.Store(&list)
}

// activate returns an active fault, which is not in the list yet.
func (s *Set) activate(fault Fault) (*Active, error) {
	a, err := newActive(s, fault)
	if err != nil {
		path := field.NewPath("spec", "effect", fault.Effect.name())
		return nil, apierrors.NewInvalid(faultKind.GroupKind(), fault.Name, field.ErrorList{field.Forbidden(path, err.Error())})
	}
	return a, nil
}

// index returns the index of a fault in the list, or -1.
func (s *Set) index(name string) int {
	return slices.IndexFunc(s.List(), func(a *Active) bool { return a.ID == name })
}

// List returns the faults in the order in which they were added.
func (s *Set) List() []*Active {
	if active := s.active.Load(); active != nil {
		return *active
	}
	return nil
}

// Get returns the fault with an ID.
func (s *Set) Get(id string) (*Active, error) {
	for _, a := range s.List() {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no fault %q: it was removed", id)
}

// RemoveAll removes all faults.
func (s *Set) RemoveAll() {
	for _, a := range s.List() {
		a.Remove()
	}
}

// Inject implements filters.Injector.
func (s *Set) Inject(r *http.Request) *request.Injection {
	active := s.active.Load()
	if active == nil {
		return nil
	}
	for _, a := range *active {
		if !a.matches(r) {
			continue
		}
		selected := a.trigger(r)
		if s.store.Watched() {
			s.refresh()
		}
		if selected {
			return a.injection(r)
		}
	}
	return nil
}
