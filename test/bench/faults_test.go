package bench

import (
	"net/http"
	"testing"

	"github.com/miniapi/miniapi/testapi/faults"
)

// BenchmarkFaults measures a get with a fault that does not select it, beside a get without faults.
func BenchmarkFaults(b *testing.B) {
	with, without := newFixture(b), newFixture(b)
	with.server.Faults().Conflict(faults.On("update", "deployments"))
	get := func(f *fixture) func(_, _ int) error {
		return func(_, _ int) error { return f.send(http.MethodGet, f.url("/a"), nil) }
	}
	for _, f := range []*fixture{with, without} {
		if err := f.send(http.MethodPost, f.url(""), configMap("a", payload)); err != nil {
			b.Fatal(err)
		}
	}
	compare(b, &side{name: "with", workers: 1, do: get(with)}, &side{name: "without", workers: 1, do: get(without)})
}
