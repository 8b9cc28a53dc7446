package etcd

import (
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestPageSize(t *testing.T) {
	cases := []struct {
		name  string
		size  pageSize
		keys  int
		value int // bytes of each value
		want  int64
	}{
		{"small values double the size", pageSize{1000, 10000}, 1000, 1 << 10, 2000},
		{"the maximum is not exceeded", pageSize{8000, 10000}, 8000, 1 << 10, 10000},
		{"large values shrink the page", pageSize{1000, 10000}, 1000, 1 << 20, 63},
		{"a value larger than a page leaves one key", pageSize{2, 10000}, 2, 2 * pageBytes, 1},
		{"an empty page doubles the size", pageSize{10, 10000}, 0, 0, 20},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp := &clientv3.GetResponse{}
			kv := &mvccpb.KeyValue{Key: []byte("/registry/pods/ns1/a"), Value: make([]byte, c.value)}
			for range c.keys {
				resp.Kvs = append(resp.Kvs, kv)
			}
			if c.size.fit(resp); c.size.keys != c.want {
				t.Errorf("the next page has %d keys, want %d", c.size.keys, c.want)
			}
		})
	}
}
