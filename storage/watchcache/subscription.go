package watchcache

import (
	"context"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/storage"
)

// scope selects events of a resource: the events of one key, or of all keys with a prefix that ends
// in a slash. If field is set, it selects only events of objects whose field had the value before
// the event, or has it afterwards.
type scope struct {
	key          string
	field, value string
}

// subscription is the wait of all readers with one scope for the next event of this scope.
type subscription struct {
	readers int           // guarded by the mu of subscriptions
	ready   chan struct{} // closed at the event

	// position of the event. Before it the window has no event of the scope that the readers have
	// not read. Set before ready is closed, as is revision.
	position int64
	// revision up to which the readers have read all events of the scope.
	revision int64
}

// subscriptions are the subscriptions to the events of one resource. An event wakes only the
// readers whose scope contains it, so the cost of a write does not grow with the watches on other
// objects.
type subscriptions struct {
	mu      sync.Mutex // guards the fields below, and is locked after the mu of the cache
	byScope map[scope]*subscription
	// fields holds the fields of the scopes.
	fields map[string]*subscribedField
}

// subscribedField is a field by which at least one subscription selects.
type subscribedField struct {
	attrs         storage.AttrFunc
	subscriptions int
}

// join adds a reader to the subscription of a scope. attrs returns the field of the scope, if it
// has one. The caller holds the mu of the cache, and calls leave afterwards.
func (s *subscriptions) join(of scope, attrs storage.AttrFunc) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	joined := s.byScope[of]
	if joined == nil {
		joined = &subscription{ready: make(chan struct{})}
		s.add(of, joined, attrs)
	}
	joined.readers++
	return joined
}

func (s *subscriptions) add(of scope, added *subscription, attrs storage.AttrFunc) {
	if s.byScope == nil {
		s.byScope, s.fields = map[scope]*subscription{}, map[string]*subscribedField{}
	}
	s.byScope[of] = added
	if of.field == "" {
		return
	}
	if s.fields[of.field] == nil {
		s.fields[of.field] = &subscribedField{attrs: attrs}
	}
	s.fields[of.field].subscriptions++
}

func (s *subscriptions) remove(of scope) {
	delete(s.byScope, of)
	if of.field == "" {
		return
	}
	field := s.fields[of.field]
	if field.subscriptions--; field.subscriptions == 0 {
		delete(s.fields, of.field)
	}
}

// leave removes a reader from a subscription. A subscription without readers is removed.
func (s *subscriptions) leave(of scope, left *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left.readers--
	if left.readers == 0 && s.byScope[of] == left {
		s.remove(of)
	}
}

// publish wakes the readers whose scope contains an event. root is the prefix of all keys of the
// resource. The caller holds the mu of the cache.
func (s *subscriptions) publish(e *event, position int64, root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byScope) == 0 {
		return
	}
	s.wakeKeys(e, position, root, "", "")
	for name, field := range s.fields {
		for _, entry := range []*storage.Entry{e.before, e.after} {
			if entry == nil {
				continue
			}
			set, err := attributes(entry, field.attrs)
			if err != nil { // each reader finds the error itself
				s.wakeField(e, position, name)
				break
			}
			s.wakeKeys(e, position, root, name, set.Get(name))
		}
	}
}

// attributes returns the fields of an entry. Scopes have fields only if decoding does not wait for
// another process, so it needs no context.
func attributes(entry *storage.Entry, attrs storage.AttrFunc) (fields.Set, error) {
	_, set, err := entry.Attributes(context.Background(), attrs)
	return set, err
}

// wakeKeys wakes the subscriptions to the key of an event and to its prefixes, with a field and its
// value.
func (s *subscriptions) wakeKeys(e *event, position int64, root, field, value string) {
	for i := len(root); i <= len(e.key); {
		s.wake(scope{e.key[:i], field, value}, position, e.revision-1)
		next := strings.IndexByte(e.key[i:], '/')
		switch {
		case next >= 0:
			i += next + 1
		case i < len(e.key):
			i = len(e.key)
		default:
			return
		}
	}
}

// wakeField wakes all subscriptions with a field.
func (s *subscriptions) wakeField(e *event, position int64, field string) {
	for of := range s.byScope {
		if of.field == field {
			s.wake(of, position, e.revision-1)
		}
	}
}

// wakeAll wakes all readers after the window was replaced. revision is the last one that the
// replaced window contains.
func (s *subscriptions) wakeAll(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range s.byScope {
		s.wake(of, 0, revision)
	}
}

func (s *subscriptions) wake(of scope, position, revision int64) {
	woken := s.byScope[of]
	if woken == nil {
		return
	}
	s.remove(of)
	woken.position, woken.revision = position, revision
	close(woken.ready)
}
