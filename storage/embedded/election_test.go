package embedded

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// late fails the first read as etcd does if its loop for reads sees the election late, which a test
// cannot cause.
type late struct {
	clientv3.KV
	reads int
}

func (l *late) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if l.reads++; l.reads == 1 {
		return nil, rpctypes.ErrLeaderChanged
	}
	return l.KV.Get(ctx, key, opts...)
}

func TestReadsAreRepeatedAfterTheElection(t *testing.T) {
	server, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	kv := &late{KV: server.instance.client.KV}
	server.instance.client.KV = kv
	if _, err := server.Client().Get(t.Context(), "a"); err != nil || kv.reads != 2 {
		t.Errorf("%d reads, error %v", kv.reads, err)
	}
	if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
