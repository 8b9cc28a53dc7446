package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/miniapi/miniapi/storage/embedded"
)

const (
	smallQuota = 16 << 20
	largeValue = 900 << 10
)

func key(i int) string { return fmt.Sprintf("/%03d", i) }

// fill puts large values under different keys until the database is full, and returns the number
// of values.
func fill(t *testing.T, client *clientv3.Client) int {
	t.Helper()
	value := string(make([]byte, largeValue))
	for i := range 1000 {
		if _, err := client.Put(t.Context(), key(i), value); errors.Is(err, rpctypes.ErrNoSpace) {
			return i
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the quota is not enforced")
	return 0
}

func expectSpace(t *testing.T, server *embedded.Server) {
	t.Helper()
	put(t, server.Client(), "/new", string(make([]byte, largeValue)))
	if err := server.SpaceProblem(t.Context()); err != nil {
		t.Errorf("there is space, but: %v", err)
	}
	if status, err := server.Client().Status(t.Context(), ""); err != nil || status.DbSize >= smallQuota || len(status.Errors) > 0 {
		t.Errorf("there is space, but the status is %v, %v", status, err)
	}
}

func TestFullDatabase(t *testing.T) {
	want := regexp.MustCompile(`^the objects take \d+\.\d of 16\.0 MiB: delete some of them, or restart with a larger quota \(--etcd-quota-backend-bytes\)$`)
	t.Run("it rejects writes while the objects need the quota", func(t *testing.T) {
		server := start(t, embedded.Config{QuotaBytes: smallQuota})
		n := fill(t, server.Client())
		if _, err := server.Client().Put(t.Context(), "/new", string(make([]byte, largeValue))); !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Fatalf("got %v", err)
		}
		problem := server.SpaceProblem(t.Context())
		if problem == nil || !want.MatchString(problem.Error()) {
			t.Errorf("the problem is %v, want %v", problem, want)
		}
		for i := range n {
			get(t, server.Client(), key(i))
		}
	})
	t.Run("it accepts writes after objects are deleted", func(t *testing.T) {
		server := start(t, embedded.Config{QuotaBytes: smallQuota})
		n := fill(t, server.Client())
		const kept = 3 // etcd accepts more than its quota, so n varies
		for i := kept; i < n; i++ {
			if _, err := server.Client().Delete(t.Context(), key(i)); err != nil {
				t.Fatal(err)
			}
		}
		expectSpace(t, server)
		for i := range kept {
			get(t, server.Client(), key(i))
		}
	})
	t.Run("it reclaims space when it is opened", func(t *testing.T) {
		dir := t.TempDir()
		server := start(t, embedded.Config{DataDir: dir, UnsafeNoFsync: true, QuotaBytes: smallQuota})
		for i := range fill(t, server.Client()) {
			if _, err := server.Client().Delete(t.Context(), key(i)); err != nil {
				t.Fatal(err)
			}
		}
		stop(t, server)
		server = start(t, embedded.Config{DataDir: dir, UnsafeNoFsync: true, QuotaBytes: smallQuota})
		if err := server.SpaceProblem(t.Context()); err != nil {
			t.Errorf("space is being reclaimed, but: %v", err)
		}
		expectSpace(t, server)
	})
	t.Run("it reclaims space after writes over TCP", func(t *testing.T) {
		server := start(t, embedded.Config{QuotaBytes: smallQuota, ListenClientURLs: []string{"http://127.0.0.1:0"}})
		remote := connect(t, server.ClientURLs()[0])
		for i := range fill(t, remote) {
			if _, err := remote.Delete(t.Context(), key(i)); err != nil {
				t.Fatal(err)
			}
		}
		expectSpace(t, server)
	})
	t.Run("it can be read and closed while it reclaims space", func(t *testing.T) {
		server := start(t, embedded.Config{QuotaBytes: smallQuota})
		n := fill(t, server.Client())
		if _, err := server.Client().Delete(t.Context(), key(0)); err != nil {
			t.Fatal(err)
		}
		var writing sync.WaitGroup
		writing.Go(func() { _, _ = server.Client().Put(t.Context(), "/new", "x") })
		for i := 1; i < n; i++ {
			get(t, server.Client(), key(i))
		}
		stop(t, server)
		writing.Wait()
	})
}

// A write whose context ends while it waits for space is not sent to etcd.
func TestWriteCancelledWhileWaitingForSpace(t *testing.T) {
	server := start(t, embedded.Config{QuotaBytes: smallQuota})
	n := fill(t, server.Client())
	if _, err := server.Client().Delete(t.Context(), key(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := server.Client().Put(ctx, key(n), string(make([]byte, 1600<<10)))
	if !errors.Is(err, context.Canceled) || status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

// A value that is replaced again and again never fills the database, and its latest history is
// kept.
func TestHistoryIsCompactedBySize(t *testing.T) {
	server := start(t, embedded.Config{QuotaBytes: smallQuota})
	client := server.Client()
	value := string(bytes.Repeat([]byte("x"), 50<<10))
	var revisions []int64
	for len(revisions) < 10*smallQuota/len(value) {
		revisions = append(revisions, put(t, client, "/a", value))
	}
	if _, err := client.Get(t.Context(), "/a", clientv3.WithRev(revisions[0])); !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("the first revision: %v", err)
	}
	get(t, client, "/a", clientv3.WithRev(revisions[len(revisions)-10]))
}
