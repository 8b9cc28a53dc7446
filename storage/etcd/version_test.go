package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
)

func TestCheckVersion(t *testing.T) {
	for text, want := range map[string]bool{
		"3.4.30": false, "3.4.31": false, "3.4.40": false,
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

// overtaking is the RPC of an etcd that reports progress before an event of that revision.
type overtaking struct {
	etcdserverpb.WatchClient
	lags bool
}

func (o overtaking) Watch(ctx context.Context, opts ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	rpc, err := o.WatchClient.Watch(ctx, opts...)
	return &overtakingStream{Watch_WatchClient: rpc, lags: o.lags}, err
}

type overtakingStream struct {
	etcdserverpb.Watch_WatchClient
	// lags is set if the progress of a member that lags behind follows.
	lags    bool
	pending []*etcdserverpb.WatchResponse
}

func (o *overtakingStream) Recv() (*etcdserverpb.WatchResponse, error) {
	if len(o.pending) > 0 {
		resp := o.pending[0]
		o.pending = o.pending[1:]
		return resp, nil
	}
	resp, err := o.Watch_WatchClient.Recv()
	if err != nil || len(resp.Events) == 0 {
		return resp, err
	}
	if o.lags {
		o.pending = append(o.pending, &etcdserverpb.WatchResponse{Header: headerAt(resp.Header, resp.Header.Revision-1), WatchId: -1})
	}
	o.pending = append(o.pending, resp)
	return &etcdserverpb.WatchResponse{Header: resp.Header, WatchId: -1}, nil
}

// TestFollowDetectsOvertakenEvents shows that Follow ends with an error before a cache would lose
// events.
func TestFollowDetectsOvertakenEvents(t *testing.T) {
	for name, lags := range map[string]bool{"progress": false, "progress of a lagging member afterwards": true} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, Config{})
			client := withWatchRPC(t, s.client, func(rpc etcdserverpb.WatchClient) etcdserverpb.WatchClient { return overtaking{rpc, lags} })
			backend, err := New(Config{Client: client, LocalReads: true})
			if err != nil {
				t.Fatal(err)
			}
			after, err := backend.CurrentRevision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
		})
	}
}
