package datastore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/miniapi/miniapi/storage/etcd"
)

// probeKey marks the context of a request in TestWatchCacheLag.
type probeKey struct{}

// A watch cache whose watch of etcd is held lags, although etcd answers, and recovers.
func TestWatchCacheLag(t *testing.T) {
	held := make(chan struct{})
	d, err := Open(t.Context(), Config{
		Prefix: "/registry", Logger: slog.New(slog.DiscardHandler),
		Failure: func(ctx context.Context) *etcd.Failure {
			select {
			case <-held:
				return nil
			default:
			}
			if ctx.Value(probeKey{}) != nil {
				return nil
			}
			return &etcd.Failure{Unavailable: true, Ended: held}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup // owned by this test
	running.Go(func() { _ = d.Run(ctx) })
	defer func() {
		cancel()
		running.Wait()
		_ = d.Close(context.Background())
	}()
	put, err := d.Client().Put(ctx, "/registry/a", "value")
	if err != nil {
		t.Fatal(err)
	}
	request := context.WithValue(ctx, probeKey{}, true)
	want := fmt.Sprintf("the watch cache has not applied revision %d of etcd", put.Header.Revision)
	for timeout := 100 * time.Millisecond; ; timeout *= 2 { // until etcd answers in time
		short, end := context.WithTimeout(request, timeout)
		err := d.WatchCacheLag(short)
		end()
		if err != nil && err.Error() == want {
			break
		}
		if err == nil || err.Error() != "etcd does not answer" || timeout > time.Minute {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
	if err := d.WatchCacheLag(ctx); err == nil || err.Error() != "etcd does not answer" {
		t.Errorf("without etcd: %v", err)
	}
	close(held)
	if err := d.WatchCacheLag(request); err != nil {
		t.Errorf("after the watch continued: %v", err)
	}
}
