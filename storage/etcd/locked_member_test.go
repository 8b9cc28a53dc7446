package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

// lockedMember is a member whose first store has failed while it held its locks, as an etcd does
// that runs out of disk space in a commit.
type lockedMember struct {
	*embedded.Server
	first   chan bool // has a value until the first store is returned
	opening bool      // also the opening of streams blocks
	gone    chan struct{}
	release chan struct{} // closed at the end of the test
}

// Store implements Member.
func (m *lockedMember) Store(ctx context.Context) (mvcc.WatchableKV, <-chan struct{}, error) {
	kv, gone, err := m.Server.Store(ctx)
	select {
	case <-m.first:
		return lockedStore{kv, m.release, m.opening}, m.gone, err
	default:
		return kv, gone, err
	}
}

// lockedStore blocks what needs its locks.
type lockedStore struct {
	mvcc.WatchableKV
	release chan struct{}
	opening bool // also the opening of streams blocks
}

func (s lockedStore) Rev() int64 {
	<-s.release
	return s.WatchableKV.Rev()
}

func (s lockedStore) NewWatchStream() mvcc.WatchStream {
	if s.opening {
		<-s.release
	}
	return lockedStream{s.WatchableKV.NewWatchStream(), s.release}
}

type lockedStream struct {
	mvcc.WatchStream
	release chan struct{}
}

func (s lockedStream) RequestProgress(mvcc.WatchID) { <-s.release }

func (s lockedStream) Close() {
	<-s.release
	s.WatchStream.Close()
}

func TestLogLeavesAMemberThatHoldsItsLocks(t *testing.T) {
	for name, block := range map[string]func(t *testing.T, s *resourceStore, requests chan<- struct{}){
		"a request of progress": func(_ *testing.T, _ *resourceStore, requests chan<- struct{}) { requests <- struct{}{} },
		"the revision":          func(t *testing.T, s *resourceStore, _ chan<- struct{}) { create(t, s, 0) },
		"the opening":           func(*testing.T, *resourceStore, chan<- struct{}) {},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := embedded.Start(t.Context(), embedded.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			member := &lockedMember{Server: server, first: make(chan bool, 1), gone: make(chan struct{}), release: make(chan struct{}), opening: name == "the opening"}
			member.first <- true
			s := newStore(t, Config{Client: server.Client(), LocalReads: true, Member: member})
			defer close(member.release)

			ctx, cancel := context.WithCancel(t.Context())
			requests, reported, followed := make(chan struct{}), make(chan int64, 10), make(chan error, 1)
			go func() { // ends with ctx
				followed <- s.Follow(ctx, 1, requests, func(changes []storage.Change, _ int64) {
					for _, change := range changes {
						reported <- change.Revision
					}
				})
			}()
			block(t, s, requests)
			close(member.gone)
			written := create(t, s, 1)
			for revision := range reported {
				if revision == written.Revision {
					break
				}
			}
			cancel()
			if err := <-followed; err != nil {
				t.Error(err)
			}
		})
	}
}
