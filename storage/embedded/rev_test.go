package embedded

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCallsOfALockedInstance checks that calls return while etcd holds its locks: with an error
// when their context ends, and with the last known revision when etcd has failed, as an etcd does
// that runs out of disk space in a commit.
func TestCallsOfALockedInstance(t *testing.T) {
	server, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	written, err := server.Client().Put(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	// A writer that waits for the lock of a reader blocks all later readers.
	reader := server.instance.etcd.Backend().ReadTx()
	reader.RLock()
	put := make(chan error, 1)
	go func() { // ends when the lock is released
		_, err := server.Client().Put(t.Context(), "a", "2")
		put <- err
	}()
	calls := map[string]func(context.Context) error{
		"Rev":          func(ctx context.Context) error { _, err := server.Rev(ctx); return err },
		"SpaceProblem": server.SpaceProblem,
		"Get":          func(ctx context.Context) error { _, err := server.Client().Get(ctx, "a"); return err },
	}
	for name, call := range calls {
		t.Log(name)
		for err := error(nil); !errors.Is(err, context.DeadlineExceeded); { // until the writer waits
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			err = call(ctx)
			cancel()
		}
	}
	server.instance.giveUpTimeout = time.Minute // what is locked now is released below
	server.instance.fatal.fail(errors.New("simulated"))
	if revision, err := server.Rev(t.Context()); err != nil || revision < written.Header.Revision {
		t.Errorf("the revision is %d (%v), want at least %d", revision, err, written.Header.Revision)
	}
	reader.RUnlock()
	<-put // has an unknown outcome
	<-server.Done()
	if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
