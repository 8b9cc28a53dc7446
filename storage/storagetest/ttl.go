package storagetest

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

func ttlRules() []rule {
	return []rule{
		{"an object without a TTL has no lease", ttlNone},
		{"expiry is a deletion with the last state", ttlEndIsDeletion},
		{"an update keeps the TTL", ttlKept},
		{"an update changes the TTL", ttlChanged},
		{"an update removes the TTL", ttlRemoved},
		{"an update adds a TTL", ttlGiven},
		{"an update that creates sets the TTL", ttlOnCreateIfAbsent},
		{"an unchanged proposal keeps the TTL", ttlNoOp},
	}
}

func expiryRules() []rule {
	return []rule{{"an object is deleted after its TTL", ttlExpires}}
}

// lease returns the lease of an object and its granted seconds, or 0 and 0.
func (e *env) lease(name string) (id, granted int64) {
	e.Helper()
	kv, err := e.raw(e.Context(), e.key(name))
	if err != nil || kv == nil {
		e.Fatalf("nothing is stored for %s (%v)", name, err)
	}
	if kv.Lease == 0 {
		return 0, 0
	}
	lease, err := e.Client.TimeToLive(e.Context(), clientv3.LeaseID(kv.Lease))
	if err != nil {
		e.Fatal(err)
	}
	return kv.Lease, lease.GrantedTTL
}

// wantTTL checks the time to live of an object. A lease may live a little longer, because objects
// share leases.
func (e *env) wantTTL(name string, seconds int64) {
	e.Helper()
	id, granted := e.lease(name)
	if seconds == 0 && id != 0 {
		e.Errorf("%s has a lease of %d seconds, want none", name, granted)
	}
	if seconds != 0 && (granted < seconds || granted > 2*seconds) {
		e.Errorf("%s has a lease of %d seconds, want %d", name, granted, seconds)
	}
}

func ttlNone(e *env) {
	e.create(e.object("a", "1"))
	e.wantTTL("a", 0)
	e.set("a", "2")
	e.wantTTL("a", 0)
}

func ttlExpires(e *env) {
	created := e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 1})
	s := e.watchFrom(created.Revision)
	event := s.next()
	s.wantLast(event, created.Revision)
	e.wantAbsent("a")
}

// wantLast checks that event deletes object a with the value 1.
func (s *stream) wantLast(event storage.Event, after int64) {
	s.Helper()
	if event.Revision <= after {
		s.Errorf("deleted at revision %d, written at %d", event.Revision, after)
	}
	s.wantEntry(event.Entry, "a", event.Revision, "1")
	if got := s.describe(event).Type; got != "DELETED" {
		s.Errorf("event is %s, want DELETED", got)
	}
}

func ttlEndIsDeletion(e *env) {
	created := e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 3600})
	e.wantTTL("a", 3600)
	s := e.watchFrom(created.Revision)
	e.revoke("a")
	s.wantLast(s.next(), created.Revision)
	e.wantAbsent("a")
}

// revoke ends the time to live of an object.
func (e *env) revoke(name string) {
	e.Helper()
	id, _ := e.lease(name)
	if _, err := e.Client.Revoke(e.Context(), clientv3.LeaseID(id)); err != nil {
		e.Fatal(err)
	}
}

// setTTL sets the value 2 and a time to live on object a; nil keeps the time to live.
func (e *env) setTTL(ttl *int64) *storage.UpdateResult {
	e.Helper()
	return e.update("a", func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		proposal, err := proposeValue(current, "2")
		proposal.TTL = ttl
		return proposal, err
	}, storage.UpdateOptions{})
}

func ttlKept(e *env) {
	e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 3600})
	before, _ := e.lease("a")
	e.setTTL(nil)
	after, _ := e.lease("a")
	if after != before {
		e.Errorf("the lease changed from %x to %x", before, after)
	}
	e.set("a", "3")
	e.wantTTL("a", 3600)
}

func ttlChanged(e *env) {
	e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 3600})
	longer := int64(100000)
	e.setTTL(&longer)
	e.wantTTL("a", longer)
}

func ttlRemoved(e *env) {
	e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 3600})
	none := int64(0)
	e.setTTL(&none)
	e.wantTTL("a", 0)
}

func ttlGiven(e *env) {
	e.create(e.object("a", "1"))
	hour := int64(3600)
	e.setTTL(&hour)
	e.wantTTL("a", 3600)
}

func ttlOnCreateIfAbsent(e *env) {
	hour := int64(3600)
	e.update("a", func(context.Context, *storage.Entry) (storage.Proposal, error) {
		return storage.Proposal{Object: e.object("a", "1"), TTL: &hour}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true})
	e.wantTTL("a", 3600)
}

func ttlNoOp(e *env) {
	created := e.createWith(e.object("a", "1"), storage.CreateOptions{TTL: 3600})
	result := e.update("a", change(func(Object) {}), storage.UpdateOptions{})
	e.wantOutcome(result, storage.Unchanged)
	e.wantStored("a", created.Revision, "1")
	e.wantTTL("a", 3600)
}
