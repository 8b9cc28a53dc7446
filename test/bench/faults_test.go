package bench

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/stale"
	"github.com/miniapi/miniapi/testapi/faults"
)

var faultRequests = map[string]func(f *fixture, i int) error{
	"create": func(f *fixture, i int) error {
		return f.send(http.MethodPost, f.url(""), configMap(fmt.Sprintf("c%d", i), ""))
	},
	"get": func(f *fixture, _ int) error { return f.send(http.MethodGet, f.url("/item-00000"), nil) },
}

// BenchmarkFaults measures requests with faults that do not select them, beside requests without
// faults.
func BenchmarkFaults(b *testing.B) {
	for name, request := range faultRequests {
		b.Run(name, func(b *testing.B) {
			with, without := newFixture(b), newFixture(b)
			with.server.Faults().Conflict(faults.On("update", "deployments"))
			with.server.Faults().Stale(faults.On("", "deployments"))
			with.server.Faults().Etcd(faults.On("", "deployments"), faults.Etcd{Unavailable: true})
			with.fill(1)
			without.fill(1)
			compare(b,
				&side{name: "with", workers: 1, do: func(_, i int) error { return request(with, i) }},
				&side{name: "without", workers: 1, do: func(_, i int) error { return request(without, i) }})
		})
	}
}

// BenchmarkUnusedFaults measures all calls that faults add to a request of a server without faults,
// beside the request. The calls of one request take
// 1 % of its time if the ratio is 100.
func BenchmarkUnusedFaults(b *testing.B) {
	set := faults.NewSet(faults.Config{})
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/namespaces/default/configmaps/a", nil)
	if err != nil {
		b.Fatal(err)
	}
	store := stale.Wrap(emptyStore{})
	calls := func(_, _ int) error {
		injected, failed := set.Inject(req), set.Failure(req.Context()) // the API request, a request to etcd
		_, err := store.Get(req.Context(), "a", storage.GetOptions{})   // a read of the watch cache
		if injected != nil || failed != nil || set.Failure(req.Context()) != nil {
			b.Fatal("a failure without a fault")
		}
		return err
	}
	for name, request := range faultRequests {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b)
			f.fill(1)
			compare(b,
				&side{name: "calls", workers: 1, do: calls},
				&side{name: "requests", workers: 1, do: func(_, i int) error { return request(f, i) }})
		})
	}
}

// emptyStore answers each get at once.
type emptyStore struct{ storage.Interface }

// Get implements storage.Interface.
func (emptyStore) Get(context.Context, string, storage.GetOptions) (*storage.Entry, error) {
	return nil, nil
}
