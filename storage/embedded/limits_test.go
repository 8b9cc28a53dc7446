package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/embedded"
)

// The limit is etcd's default, so that a request fails here if it would fail in a cluster.
func TestLargestRequest(t *testing.T) {
	const limit = 1536 << 10
	server := start(t, embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	remote := connect(t, server.ClientURLs()[0])
	put(t, server.Client(), "/a", string(make([]byte, limit-100)))
	put(t, remote, "/a", string(make([]byte, limit-100)))
	for name, tc := range map[string]struct {
		client *clientv3.Client
		size   int
		want   string
	}{
		"in the process":                {server.Client(), limit + 1, rpctypes.ErrRequestTooLarge.Error()},
		"in the process, far too large": {server.Client(), 3 << 20, rpctypes.ErrRequestTooLarge.Error()},
		"over TCP":                      {remote, limit + 1, rpctypes.ErrRequestTooLarge.Error()},
		"over TCP, far too large":       {remote, 3 << 20, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3145737 vs. 2097152)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.client.Put(t.Context(), "/a", string(make([]byte, tc.size)))
			if err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestQuotaIsEnforced(t *testing.T) {
	server := start(t, embedded.Config{QuotaBytes: 4 << 20})
	value := string(make([]byte, 1<<20))
	for i := range 500 { // etcd updates its size with a delay
		if _, err := server.Client().Put(t.Context(), fmt.Sprintf("/%d", i), value); err != nil {
			if !errors.Is(err, rpctypes.ErrNoSpace) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("500 MiB fit into 4")
}

// At first, less than the quota is mapped into memory. The mapping grows with the database.
func TestDatabaseOutgrowsItsFirstMapping(t *testing.T) {
	server := start(t, embedded.Config{})
	value := strings.Repeat("x", 1<<20)
	first := put(t, server.Client(), "/000", value)
	for i := range 100 {
		put(t, server.Client(), fmt.Sprintf("/%03d", i+1), value)
	}
	answer, err := server.Client().Get(t.Context(), "/000", clientv3.WithRev(first))
	if err != nil || len(answer.Kvs) != 1 || string(answer.Kvs[0].Value) != value {
		t.Errorf("the first key: %d found, %v", answer.Count, err)
	}
	all, err := server.Client().Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || all.Count != 101 {
		t.Errorf("%v keys, %v", all.Count, err)
	}
}
