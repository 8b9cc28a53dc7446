package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi/storage"
)

// env is the environment of one rule: an empty store and common steps. A step that fails ends the
// test.
type env struct {
	*testing.T
	Fixture
	kind Kind
}

const namespace = "ns1"

// key returns the key of an object in the default namespace of the tests.
func (e *env) key(name string) string { return e.kind.Key(namespace, name) }

// below returns the prefix of a namespace, or of all objects for "".
func (e *env) below(namespace string) string {
	if namespace == "" {
		return "/" + e.kind.Resource + "/"
	}
	return "/" + e.kind.Resource + "/" + namespace + "/"
}

func (e *env) object(name, value string) Object { return e.kind.New(namespace, name, value) }

func (e *env) painted(name, value, colour string) Object {
	obj := e.object(name, value)
	paint(obj, colour)
	return obj
}

func (e *env) create(obj Object) *storage.Entry {
	e.Helper()
	return e.createWith(obj, storage.CreateOptions{})
}

func (e *env) createWith(obj Object, opts storage.CreateOptions) *storage.Entry {
	e.Helper()
	key := e.kind.Key(obj.GetNamespace(), obj.GetName())
	entry, err := e.Store.Create(e.Context(), key, obj, opts)
	if err != nil {
		e.Fatalf("Create %s: %v", key, err)
	}
	return entry
}

func (e *env) get(name string) *storage.Entry {
	e.Helper()
	entry, err := e.Store.Get(e.Context(), e.key(name), storage.GetOptions{})
	if err != nil {
		e.Fatalf("Get %s: %v", name, err)
	}
	return entry
}

func (e *env) list(key string, opts storage.ListOptions) *storage.Page {
	e.Helper()
	page, err := e.Store.GetList(e.Context(), key, opts)
	if err != nil {
		e.Fatalf("GetList %s %+v: %v", key, opts, err)
	}
	return page
}

// everything lists all objects of the store.
func (e *env) everything() *storage.Page {
	e.Helper()
	return e.list(e.below(""), storage.ListOptions{Recursive: true})
}

func (e *env) update(name string, propose storage.ProposeFunc, opts storage.UpdateOptions) *storage.UpdateResult {
	e.Helper()
	result, err := e.Store.GuaranteedUpdate(e.Context(), e.key(name), propose, opts)
	if err != nil {
		e.Fatalf("GuaranteedUpdate %s: %v", name, err)
	}
	return result
}

// set updates the value of an object.
func (e *env) set(name, value string) *storage.Entry {
	e.Helper()
	return e.update(name, change(func(obj Object) { setValue(obj, value) }), storage.UpdateOptions{}).Entry
}

func (e *env) delete(name string) *storage.Entry {
	e.Helper()
	entry, err := e.Store.Delete(e.Context(), e.key(name), storage.DeleteOptions{})
	if err != nil {
		e.Fatalf("Delete %s: %v", name, err)
	}
	return entry
}

func (e *env) revision() int64 {
	e.Helper()
	revision, err := e.Revision(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return revision
}

func (e *env) compact(revision int64) {
	e.Helper()
	if err := e.Compact(e.Context(), revision); err != nil {
		e.Fatalf("Compact at %d: %v", revision, err)
	}
}

// many creates n objects in a namespace, named in the order of their keys.
func (e *env) many(n int, colour func(i int) string) {
	e.Helper()
	objects := make([]Object, n)
	for i := range objects {
		objects[i] = e.painted(fmt.Sprintf("o%05d", i), "0", colour(i))
	}
	if err := e.fill(e.Context(), e.kind, objects); err != nil {
		e.Fatal(err)
	}
}

func colourless(int) string { return "" }

// open returns the object of an entry.
func (e *env) open(entry *storage.Entry) Object {
	e.Helper()
	if entry == nil {
		e.Fatal("there is no entry")
	}
	obj, err := entry.Object()
	if err != nil {
		e.Fatalf("object of %s: %v", entry.Key, err)
	}
	return obj.(Object)
}

// wantEntry checks the key, the revision and the value of an entry, and the resourceVersion of its
// object.
func (e *env) wantEntry(entry *storage.Entry, name string, revision int64, value string) {
	e.Helper()
	obj := e.open(entry)
	if entry.Key != e.key(name) || entry.Revision != revision || valueOf(obj) != value {
		e.Errorf("entry is %s at %d with %q, want %s at %d with %q",
			entry.Key, entry.Revision, valueOf(obj), e.key(name), revision, value)
	}
	e.wantResourceVersion(entry)
}

func (e *env) wantResourceVersion(entry *storage.Entry) {
	e.Helper()
	stamp, err := e.Store.Versioner().ObjectResourceVersion(e.open(entry))
	if err != nil || stamp != entry.Revision {
		e.Errorf("object of %s has resourceVersion %d (%v), its entry has revision %d", entry.Key, stamp, err, entry.Revision)
	}
}

// wantStored checks the bytes that etcd has under the key of an object.
func (e *env) wantStored(name string, revision int64, value string) {
	e.Helper()
	kv, err := e.raw(e.Context(), e.key(name))
	if err != nil || kv == nil {
		e.Fatalf("nothing is stored for %s (%v)", name, err)
	}
	if kv.ModRevision != revision {
		e.Errorf("%s is stored at revision %d, want %d", name, kv.ModRevision, revision)
	}
	e.wantEntry(e.get(name), name, revision, value)
}

func (e *env) wantAbsent(name string) {
	e.Helper()
	kv, err := e.raw(e.Context(), e.key(name))
	if err != nil || kv != nil {
		e.Errorf("%s is stored: %v (%v)", name, kv, err)
	}
}

// wantRevision checks that nothing was written since revision.
func (e *env) wantRevision(revision int64) {
	e.Helper()
	if got := e.revision(); got != revision {
		e.Errorf("the store is at revision %d, want %d: something was written", got, revision)
	}
}

// wantError checks that err wraps target in a KeyError with op and key.
func (e *env) wantError(err, target error, op, key string) {
	e.Helper()
	var keyErr *storage.KeyError
	switch {
	case !errors.Is(err, target):
		e.Errorf("error is %v, want %v", err, target)
	case !errors.As(err, &keyErr):
		e.Errorf("error %v is not a KeyError", err)
	case keyErr.Op != op || keyErr.Key != key:
		e.Errorf("error has operation and key %s %s, want %s %s", keyErr.Op, keyErr.Key, op, key)
	}
}

// wantNames checks the names of entries, in order.
func (e *env) wantNames(entries []*storage.Entry, want ...string) {
	e.Helper()
	var got []string
	for _, entry := range entries {
		got = append(got, e.open(entry).GetName())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("names (-want +got):\n%s", diff)
	}
}

// change returns a propose function that mutates a copy of the current object.
func change(mutate func(obj Object)) storage.ProposeFunc {
	return func(_ context.Context, current *storage.Entry) (storage.Proposal, error) {
		obj, err := current.Object()
		if err != nil {
			return storage.Proposal{}, err
		}
		next := obj.DeepCopyObject().(Object)
		mutate(next)
		return storage.Proposal{Object: next}, nil
	}
}

// sub runs a part of a rule as a subtest on the same store.
func (e *env) sub(name string, check func(e *env)) {
	e.Run(name, func(t *testing.T) {
		check(&env{T: t, Fixture: e.Fixture, kind: e.kind})
	})
}
