package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/stale"
)

// Active is a fault of a set. Its methods are safe for concurrent use.
type Active struct {
	// ID identifies the fault in its set. It is the name of the fault.
	ID    string
	fault Fault
	set   *Set
	ends  time.Time // zero: no limit
	// ended is closed when the fault is removed, or after the duration of its match.
	ended <-chan struct{}
	end   context.CancelFunc // closes ended
	// selector is nil without a label selector.
	selector labels.Selector
	// hold is set for a stale effect.
	hold stale.Hold
	// wholeServer is set if an etcd effect concerns all requests to etcd.
	wholeServer bool
	// counted is set if counts has changed since the status of the object was written.
	counted atomic.Bool

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	counts Counts
	// triggers has the counts for the trigger fields. With Match.PerObject the key is an object,
	// otherwise it is empty. It has at most maxObjects items.
	triggers map[string]*triggerCounts
}

// triggerCounts counts the matching and the selected requests.
type triggerCounts struct{ matched, selected int64 }

// Counts counts the requests of a fault. It is the status of a Fault in the API.
type Counts struct {
	Matched     int64        `json:"matched" doc:"The number of requests that the match selects, apart from nth, every, probability and count."`
	Injected    int64        `json:"injected" doc:"The number of requests into which the failure was injected."`
	LastRequest string       `json:"lastRequest,omitempty" doc:"The method and the URI of the last request into which the failure was injected."`
	LastTime    *metav1.Time `json:"lastTime,omitempty" doc:"The time of that request."`
}

// newActive returns the fault of a set. The caller must call end.
func newActive(s *Set, fault Fault) (*Active, error) {
	ctx, end := context.WithCancel(withoutFailure(context.Background()))
	a := &Active{
		ID: fault.Name, fault: fault, set: s, ended: ctx.Done(), end: end,
		triggers: map[string]*triggerCounts{}, random: rand.New(rand.NewPCG(fault.Match.Seed, 0)),
		wholeServer: fault.Effect.Etcd != nil && fault.Match.selectsAll(),
	}
	var err error
	if text := fault.Match.LabelSelector; text != "" {
		if a.selector, err = labels.Parse(text); err != nil {
			return nil, err
		}
	}
	if fault.Effect.Stale != nil {
		if a.hold, err = a.newHold(ctx); err != nil {
			end()
			return nil, err
		}
	}
	if d := fault.Match.Duration.Duration; d > 0 {
		a.ends = time.Now().Add(d)
		timer := time.AfterFunc(d, end)
		a.end = func() { timer.Stop(); end() }
	}
	return a, nil
}

// describes reports whether a fault has the match and the effect of a.
func (a *Active) describes(fault Fault) bool {
	return reflect.DeepEqual(a.fault.Match, fault.Match) && reflect.DeepEqual(a.fault.Effect, fault.Effect)
}

// Fault returns the fault.
func (a *Active) Fault() Fault { return a.fault }

// Counts returns the present counts.
func (a *Active) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts
}

// Injected returns the number of requests into which the failure was injected.
func (a *Active) Injected() int64 { return a.Counts().Injected }

// Remove removes the fault and releases the events that it holds. It can be called more than once.
func (a *Active) Remove() {
	a.write(func(*storage.Entry) (storage.Proposal, error) { return storage.Proposal{Delete: true}, nil })
}

// errInactive is the error of a write of an object whose fault was removed or replaced.
var errInactive = errors.New("the fault is not active")

// write writes the object of the fault. It does nothing if the fault was removed or replaced by a
// fault with the same name.
func (a *Active) write(propose func(current *storage.Entry) (storage.Proposal, error)) {
	ofActive := func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		if !slices.Contains(a.set.List(), a) {
			return storage.Proposal{}, errInactive
		}
		return propose(current)
	}
	_, _ = a.set.store.GuaranteedUpdate(context.Background(), keyOf(a.ID), ofActive, storage.UpdateOptions{})
}

// hasEnded reports whether the fault was removed or its duration is over.
func (a *Active) hasEnded() bool {
	select {
	case <-a.ended:
		return true
	default:
		return !a.ends.IsZero() && !time.Now().Before(a.ends)
	}
}

// matches reports whether the fault selects a request, apart from the trigger fields.
func (a *Active) matches(r *http.Request) bool {
	return a.fault.Match.matches(r) && a.fault.applies(r) && !a.hasEnded() &&
		(a.selector == nil || a.selector.Matches(a.set.config.Labels(r)))
}

// trigger counts a matching request and reports whether it is selected.
func (a *Active) trigger(r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, c, t := &a.fault.Match, &a.counts, a.triggerCounts(r)
	c.Matched++
	a.counted.Store(true)
	if t == nil {
		return false
	}
	t.matched++
	selected := (m.Nth == 0 || t.matched == m.Nth) &&
		(m.Every == 0 || t.matched%m.Every == 0) &&
		(m.Probability == 0 || a.random.Float64() < m.Probability) &&
		(m.Count == 0 || t.selected < m.Count)
	if selected {
		t.selected++
		c.Injected++
		now := metav1.NewTime(a.set.config.Now())
		c.LastRequest, c.LastTime = r.Method+" "+r.RequestURI, &now
	}
	return selected
}

// maxObjects is the number of objects that Match.PerObject counts. A client can name any number.
const maxObjects = 10_000

// triggerCounts returns the counts that decide about a request, nil for an object after the first
// maxObjects. It requires mu.
func (a *Active) triggerCounts(r *http.Request) *triggerCounts {
	key := ""
	if a.fault.Match.PerObject {
		info := request.InfoFrom(r)
		key = strings.Join([]string{info.Verb, info.Group, info.Resource, info.Subresource, info.Namespace, info.Name}, "/")
	}
	if a.triggers[key] == nil {
		if len(a.triggers) >= maxObjects {
			return nil
		}
		a.triggers[key] = &triggerCounts{}
	}
	return a.triggers[key]
}

// refresh writes the changed counts to the status of the objects. It is called before the objects
// are read, and for each matching request while a client watches them.
func (s *Set) refresh() {
	for _, a := range s.List() {
		if a.counted.Swap(false) {
			a.writeStatus()
		}
	}
}

func (a *Active) writeStatus() {
	a.write(func(current *storage.Entry) (storage.Proposal, error) {
		obj, err := current.Object()
		if err != nil {
			return storage.Proposal{}, err
		}
		status, err := toMap(a.Counts())
		if err != nil {
			return storage.Proposal{}, err
		}
		u := obj.(*unstructured.Unstructured).DeepCopy()
		u.Object["status"] = status
		return storage.Proposal{Object: u}, nil
	})
}
