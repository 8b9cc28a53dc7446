package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
)

// largestAnswer is the message limit of the client, in place of gRPC's 2 GiB.
const largestAnswer = 2 << 20

// startNarrow returns a client that rejects responses above largestAnswer. It ends with the test.
func startNarrow(t *testing.T) *clientv3.Client {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: server.ClientURLs(), Logger: zap.NewNop(), DialOptions: []grpc.DialOption{etcd.AtMostOnce()},
		MaxCallSendMsgSize: largestAnswer, MaxCallRecvMsgSize: largestAnswer,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return client
}

// TestPagesFitIntoMessages reads small and large objects with every operation that reads many
// keys. All objects together exceed the message limit by far.
func TestPagesFitIntoMessages(t *testing.T) {
	const small, large = 100, 60
	client := startNarrow(t)
	backend, err := etcd.New(etcd.Config{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	kind := storagetest.Kinds()[0]
	store := backend.Store(kind.Codec)
	for i := range small + large {
		value := "1"
		if i >= small {
			value = strings.Repeat("x", 200<<10)
		}
		name := fmt.Sprintf("p%03d", i)
		if _, err := store.Create(t.Context(), kind.Key("ns1", name), kind.New("ns1", name, value), storage.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("state", func(t *testing.T) {
		n := 0
		if _, err := backend.State(t.Context(), func(storage.Change) { n++ }); err != nil || n != small+large {
			t.Errorf("%d keys: %v", n, err)
		}
	})
	t.Run("list", func(t *testing.T) {
		page, err := store.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) != small+large || page.Continue != "" {
			t.Errorf("%d entries", len(page.Entries))
		}
	})
	t.Run("first page", func(t *testing.T) {
		page, err := store.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, Limit: small + large - 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) != small+large-1 || page.Remaining == nil || *page.Remaining != 1 {
			t.Errorf("%d entries", len(page.Entries))
		}
	})
	t.Run("watch", func(t *testing.T) {
		watcher, err := store.Watch(t.Context(), "/pods/", storage.WatchOptions{Recursive: true})
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Stop()
		n := 0
		for e := range watcher.Events() {
			if e.Type == watch.Error {
				t.Fatal(e.Err)
			}
			if e.InitialEventsEnd {
				break
			}
			n++
		}
		if n != small+large {
			t.Errorf("%d initial events", n)
		}
	})
}
