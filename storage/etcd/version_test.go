package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

func TestCheckVersion(t *testing.T) {
	for text, want := range map[string]bool{
		"3.4.30": false, "3.4.31": true, "3.4.40": true,
		"3.5.0": false, "3.5.12": false, "3.5.13": true, "3.5.13-rc.0": false, "3.5.24": true,
		"3.6.0": true, "3.7.3": true, "4.0.0": true,
		"3.3.27": false, "2.3.8": false, "": false, "devel": false,
	} {
		if err := checkVersion(text); (err == nil) != want {
			t.Errorf("version %q: %v", text, err)
		}
	}
}

// TestCheckVersionOfServer checks the embedded version of etcd, beside a member that is down.
func TestCheckVersionOfServer(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: append(server.ClientURLs(), "http://127.0.0.1:1"), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckVersion(t.Context(), client); err != nil {
		t.Error(err)
	}
	if err := errors.Join(client.Close(), server.Close(context.WithoutCancel(t.Context()))); err != nil {
		t.Error(err)
	}
}

// overtaking is the watcher of an etcd that reports progress before an event of that revision.
type overtaking struct{ clientv3.Watcher }

func (o overtaking) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	incoming := o.Watcher.Watch(ctx, key, opts...)
	out := make(chan clientv3.WatchResponse)
	go func() { // ends with the watch
		defer close(out)
		for resp := range incoming {
			if len(resp.Events) > 0 {
				out <- clientv3.WatchResponse{Header: &etcdserverpb.ResponseHeader{Revision: resp.Header.Revision}}
			}
			out <- resp
		}
	}()
	return out
}

// TestFollowDetectsOvertakenEvents shows that Follow ends with an error before a cache would lose
// events.
func TestFollowDetectsOvertakenEvents(t *testing.T) {
	s := newStore(t, Config{})
	client := clientv3.NewCtxClient(t.Context())
	client.KV, client.Lease, client.Watcher = s.client.KV, s.client.Lease, overtaking{s.client.Watcher}
	backend, err := New(Config{Client: client, LocalReads: true})
	if err != nil {
		t.Fatal(err)
	}
	after, err := backend.CurrentRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	create(t, s, 1)
	err = backend.Follow(ctx, after, nil, func(changes []storage.Change, _ int64) {
		if len(changes) > 0 {
			t.Errorf("changes %v are reported after the progress of their revision", changes)
		}
	})
	if !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("the log ends with %v", err)
	}
}
