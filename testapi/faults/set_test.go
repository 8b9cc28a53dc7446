package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/storage"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func add(t *testing.T, s *Set, f Fault) *Active {
	t.Helper()
	a, err := s.Add(f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEtcdFaultAppliesAfterTheEndOfAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(Config{Now: time.Now})
		defer s.RemoveAll()
		add(t, s, Fault{Match: Match{}.For(time.Minute), Effect: Effect{Etcd: &Etcd{Unavailable: true}}})
		add(t, s, Fault{Effect: Effect{Etcd: &Etcd{NoSpace: true}}})
		if f := s.Failure(t.Context()); f == nil || !f.Unavailable {
			t.Errorf("failure %+v, want the one of the first fault", f)
		}
		time.Sleep(time.Minute)
		if f := s.Failure(t.Context()); f == nil || !f.NoSpace {
			t.Errorf("failure %+v, want the one of the second fault", f)
		}
	})
}

// A fault that a client has replaced does not change the object of its successor.
func TestReplacedFaultLeavesItsSuccessor(t *testing.T) {
	s := NewSet(Config{Now: time.Now})
	replaced := add(t, s, Fault{Name: "a", Effect: Effect{Conflict: &Conflict{}}})
	if err := s.replaceForTest("a", Effect{Latency: &Latency{Duration: metav1.Duration{Duration: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	replaced.counts.Matched = 7
	replaced.writeStatus()
	entry, err := s.store.Get(t.Context(), keyOf("a"), storage.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := entry.Object()
	if err != nil {
		t.Fatal(err)
	}
	if matched, _, _ := unstructured.NestedInt64(obj.(*unstructured.Unstructured).Object, "status", "matched"); matched != 0 {
		t.Errorf("the status has %d requests of the replaced fault", matched)
	}
	replaced.Remove()
	if len(s.List()) != 1 {
		t.Error("the successor was removed")
	}
}

// replaceForTest changes the effect of a fault as an update of its object does.
func (s *Set) replaceForTest(name string, effect Effect) error {
	propose := func(context.Context, *storage.Entry) (storage.Proposal, error) {
		obj, err := newObject(Fault{Name: name, Effect: effect}, time.Now())
		return storage.Proposal{Object: obj}, err
	}
	_, err := s.store.GuaranteedUpdate(context.Background(), keyOf(name), propose, storage.UpdateOptions{})
	return err
}

// An etcd that does not answer blocks neither new faults nor the end of a fault.
func TestStaleFaultOfAnEtcdThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent atomic.Bool // the etcd does not answer
		s := NewSet(Config{Now: time.Now, Revision: func(ctx context.Context) (int64, error) {
			if !silent.Load() {
				return 1, nil
			}
			<-ctx.Done()
			return 0, ctx.Err()
		}})
		lagging := add(t, s, Fault{Effect: Effect{Stale: &Stale{Lag: metav1.Duration{Duration: time.Minute}}}})
		silent.Store(true)
		time.Sleep(time.Minute)
		if _, err := s.Add(Fault{Effect: Effect{Stale: &Stale{}}}); err == nil {
			t.Error("a stale fault without a revision was added")
		}
		lagging.Remove()
		synctest.Wait() // the test fails if the goroutine of the lag does not end
		if len(s.List()) != 0 {
			t.Error("the fault was not removed")
		}
	})
}

// The number of counters of Match.PerObject is limited: a client can name any number of objects.
func TestCountersPerObjectAreLimited(t *testing.T) {
	a := add(t, NewSet(Config{Now: time.Now}), Fault{
		Match: Match{PerObject: true, Count: 1}, Effect: Effect{Latency: &Latency{Duration: metav1.Duration{Duration: time.Second}}},
	})
	get := func(name int) *http.Request {
		return httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/pods/"+strconv.Itoa(name), nil)
	}
	for i := range maxObjects {
		if !a.trigger(get(i)) {
			t.Fatalf("the first request for object %d is not selected", i)
		}
	}
	if a.trigger(get(maxObjects)) || len(a.triggers) > maxObjects {
		t.Errorf("%d counters, want at most %d", len(a.triggers), maxObjects)
	}
	if a.trigger(get(0)) {
		t.Error("the second request for an object is selected")
	}
}

func TestEffectNames(t *testing.T) {
	if got, want := effectNames(), "status, conflict, latency, reset, watch, stale, etcd, compact"; got != want {
		t.Errorf("effects %q, want %q", got, want)
	}
}
