package etcd

import (
	"context"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
)

const (
	// firstPage is the number of keys fetched first where nothing is known of their values: with
	// values as large as etcd takes them, 1.5 MiB, it is below gRPC's limit of 2 GiB.
	firstPage = 1000
	// pageBytes is about how many bytes a page should have.
	pageBytes = 64 << 20
)

// pageSize is the number of keys to fetch at once. It grows from page to page up to most, and
// shrinks where values are large.
//
// Invariant: 1 <= keys <= most.
type pageSize struct{ keys, most int64 }

// fetch fetches a page, the keys from from on. A page that does not fit into a message, because
// its values are larger than those before, is fetched again with half as many keys.
func (p *pageSize) fetch(ctx context.Context, client *clientv3.Client, from string, opts []clientv3.OpOption) (*clientv3.GetResponse, error) {
	for {
		resp, err := client.Get(ctx, from, append(slices.Clip(opts), clientv3.WithLimit(p.keys))...)
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

// fit makes the next page twice as large as the last, or as large as such values allow.
func (p *pageSize) fit(resp *clientv3.GetResponse) {
	p.keys = min(2*p.keys, p.most)
	bytes := int64(0)
	for _, kv := range resp.Kvs {
		bytes += int64(len(kv.Key) + len(kv.Value))
	}
	if n := int64(len(resp.Kvs)); n > 0 && bytes > 0 {
		p.keys = min(p.keys, max(n*pageBytes/bytes, 1))
	}
}

// exceedsMessage reports whether an answer was too large for a gRPC message, on either side.
func exceedsMessage(err error) bool {
	return codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}
