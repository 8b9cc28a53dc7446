package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

// restarted is a member that is replaced by another one on the same data.
type restarted struct {
	*embedded.Server
	gone chan struct{}
	next chan *embedded.Server
}

// Store implements Member.
func (r *restarted) Store(ctx context.Context) (mvcc.WatchableKV, <-chan struct{}, error) {
	select {
	case <-r.gone:
		r.Server, r.gone = <-r.next, make(chan struct{})
	default:
	}
	kv, _, err := r.Server.Store(ctx)
	return kv, r.gone, err
}

func TestLogContinuesAfterARestartOfTheMember(t *testing.T) {
	config := embedded.Config{DataDir: t.TempDir(), UnsafeNoFsync: true}
	open := func() *embedded.Server {
		server, err := embedded.Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	stop := func(server *embedded.Server) {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	first := open()
	member := &restarted{Server: first, gone: make(chan struct{}), next: make(chan *embedded.Server, 1)}
	writer := newStore(t, Config{Client: first.Client()})
	s := newStore(t, Config{Client: first.Client(), LocalReads: true, Member: member})
	gone := member.gone

	ctx, cancel := context.WithCancel(t.Context())
	reported, followed := make(chan storage.Change, 10), make(chan error, 1)
	go func() { // ends with ctx
		followed <- s.Follow(ctx, 1, nil, func(changes []storage.Change, _ int64) {
			for _, change := range changes {
				reported <- change
			}
		})
	}()
	expect := func(want *storage.Entry) {
		t.Helper()
		if got := <-reported; got.Revision != want.Revision || got.Key != want.Key {
			t.Errorf("got %s at %d, want %s at %d", got.Key, got.Revision, want.Key, want.Revision)
		}
	}
	expect(create(t, writer, 0))
	stop(first)

	second := open()
	t.Cleanup(func() { stop(second) })
	missed := create(t, newStore(t, Config{Client: second.Client()}), 1)
	member.next <- second
	close(gone)
	expect(missed)
	expect(create(t, newStore(t, Config{Client: second.Client()}), 2))
	cancel()
	if err := <-followed; err != nil {
		t.Error(err)
	}
}
