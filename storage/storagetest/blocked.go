package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage"
)

// blockedRules are the rules of a store whose codec waits for another process.
func blockedRules() []rule {
	return []rule{
		{"an update with a suggestion returns when its context ends", blockedSuggestion},
		{"an update with preconditions returns when its context ends", blockedPreconditions},
		{"an update to a given object returns when its context ends", blockedProposal},
		{"a deletion with preconditions returns when its context ends", blockedDeletion},
		{"a deletion of a corrupt object returns when its context ends", blockedCorruptDeletion},
		{"a list with a predicate returns when its context ends", blockedList},
		{"a watch with a predicate ends with its context", blockedWatch},
	}
}

// runBlocked runs the rules of a store whose codec waits for another process.
func runBlocked(t *testing.T, h Harness, kind Kind) {
	for _, r := range blockedRules() {
		t.Run(r.name, func(t *testing.T) {
			kind := kind
			kind.Codec = NewGate().Codec(kind.Codec)
			r.check(&env{T: t, Fixture: h.New(t, kind.Codec), kind: kind})
		})
	}
}

// blocked runs call until it decodes an object, which never ends, and then ends the context of the
// call. The call must return. It returns the error of the call.
func (e *env) blocked(call func(ctx context.Context) error) error {
	e.Helper()
	gate := e.kind.Codec.(gatedCodec).gate
	open := gate.Shut()
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(ctx) }() // ends when the gate is open
	select {
	case <-gate.Waiting:
	case err := <-done:
		e.Fatalf("the call has not decoded the object: %v", err)
	}
	cancel()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case err := <-done:
		open()
		return err
	case <-timeout.C:
		open()
		<-done
		e.Fatal("the call continues after its context has ended")
		return nil
	}
}

// wantInterrupted checks that a call returns when its context ends, and has written nothing.
func (e *env) wantInterrupted(call func(ctx context.Context) error) {
	e.Helper()
	before := e.revision()
	if err := e.blocked(call); !errors.Is(err, context.Canceled) || !errors.Is(err, storage.ErrUnavailable) {
		e.Errorf("error is %v, want %v and %v", err, storage.ErrUnavailable, context.Canceled)
	}
	e.wantRevision(before)
}

// replace is a proposal that does not depend on the current object.
func (e *env) replace(context.Context, *storage.Entry) (storage.Proposal, error) {
	return storage.Proposal{Object: e.object("a", "2")}, nil
}

func blockedSuggestion(e *env) {
	suggestion := e.create(e.object("a", "1"))
	e.wantInterrupted(func(ctx context.Context) error {
		_, err := e.Store.GuaranteedUpdate(ctx, e.key("a"), e.replace, storage.UpdateOptions{Suggestion: suggestion})
		return err
	})
}

func blockedPreconditions(e *env) {
	created := e.create(e.object("a", "1"))
	e.wantInterrupted(func(ctx context.Context) error {
		opts := storage.UpdateOptions{Preconditions: ifVersion(version(created.Revision)), DryRun: true}
		_, err := e.Store.GuaranteedUpdate(ctx, e.key("a"), e.replace, opts)
		return err
	})
}

func blockedProposal(e *env) {
	e.create(e.object("a", "1"))
	e.wantInterrupted(func(ctx context.Context) error {
		_, err := e.Store.GuaranteedUpdate(ctx, e.key("a"), e.replace, storage.UpdateOptions{})
		return err
	})
}

func blockedDeletion(e *env) {
	created := e.create(e.object("a", "1"))
	e.wantInterrupted(func(ctx context.Context) error {
		opts := storage.DeleteOptions{Preconditions: ifVersion(version(created.Revision))}
		_, err := e.Store.Delete(ctx, e.key("a"), opts)
		return err
	})
}

func blockedCorruptDeletion(e *env) {
	e.create(e.object("a", "1"))
	e.wantInterrupted(func(ctx context.Context) error {
		_, err := e.Store.Delete(ctx, e.key("a"), storage.DeleteOptions{OnlyCorrupt: true})
		return err
	})
}

func blockedList(e *env) {
	e.create(e.painted("a", "1", "red"))
	e.wantInterrupted(func(ctx context.Context) error {
		opts := storage.ListOptions{Recursive: true, Predicate: e.kind.Coloured("red")}
		_, err := e.Store.GetList(ctx, e.below(""), opts)
		return err
	})
}

func blockedWatch(e *env) {
	e.create(e.painted("a", "1", "red"))
	err := e.blocked(func(ctx context.Context) error {
		opts := storage.WatchOptions{Recursive: true, Predicate: e.kind.Coloured("red")}
		watcher, err := e.Store.Watch(ctx, e.below(""), opts)
		if err != nil {
			return err
		}
		defer watcher.Stop()
		for event := range watcher.Events() {
			return errors.Join(errors.New("there is an event"), event.Err)
		}
		return nil
	})
	if err != nil {
		e.Error(err)
	}
}
