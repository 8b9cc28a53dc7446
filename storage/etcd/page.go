package etcd

import (
	"context"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
)

const (
	// firstPage is the number of keys in the first read, when the size of the values is unknown.
	// Even with the largest values that etcd accepts, 1.5 MiB, it stays below the limit of gRPC, 2
	// GiB.
	firstPage = 1000
	// pageBytes is the approximate target size of a page in bytes.
	pageBytes = 64 << 20
)

// pageSize is the number of keys in a read. It grows from page to page up to maximum, and shrinks
// for large values.
//
// Invariant: 1 <= keys <= maximum.
type pageSize struct{ keys, maximum int64 }

// fetch reads a page of keys, beginning with from. A page that exceeds the size of a message,
// because its values are larger than the earlier ones, is read again with half as many keys.
func (p *pageSize) fetch(ctx context.Context, kv clientv3.KV, from string, opts []clientv3.OpOption) (*clientv3.GetResponse, error) {
	for {
		resp, err := kv.Get(ctx, from, append(slices.Clip(opts), clientv3.WithLimit(p.keys))...)
		if err == nil {
			p.fit(resp)
			return resp, nil
		}
		if p.keys == 1 || !exceedsMessage(err) {
			return nil, err
		}
		p.keys /= 2
	}
}

// fit doubles the size of the next page, limited to pageBytes for values of the same size.
func (p *pageSize) fit(resp *clientv3.GetResponse) {
	p.keys = min(2*p.keys, p.maximum)
	bytes := pageMemory(resp)
	if n := int64(len(resp.Kvs)); n > 0 && bytes > 0 {
		p.keys = min(p.keys, max(n*pageBytes/bytes, 1))
	}
}

// pageMemory returns the size of the keys and values of a page in bytes.
func pageMemory(resp *clientv3.GetResponse) int64 {
	bytes := int64(0)
	for _, kv := range resp.Kvs {
		bytes += int64(len(kv.Key) + len(kv.Value))
	}
	return bytes
}

// exceedsMessage reports whether a response exceeded the message size of gRPC, on either side.
func exceedsMessage(err error) bool {
	return codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}
