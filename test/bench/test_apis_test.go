package bench

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/miniapi/miniapi"
)

// BenchmarkTestAPIs measures requests to a server with the test APIs beside requests to a server
// without them.
func BenchmarkTestAPIs(b *testing.B) {
	requests := map[string]func(f *fixture, i int) error{
		"create": func(f *fixture, i int) error {
			return f.send(http.MethodPost, f.url(""), configMap(fmt.Sprintf("c%d", i), ""))
		},
		"get": func(f *fixture, _ int) error { return f.send(http.MethodGet, f.url("/item-00000"), nil) },
		"update": func(f *fixture, i int) error {
			return f.send(http.MethodPut, f.url("/item-00000"), configMap("item-00000", fmt.Sprint(i)))
		},
	}
	for name, request := range requests {
		b.Run(name, func(b *testing.B) {
			on, off := newFixtureWith(b, miniapi.Config{TestAPIs: true}), newFixture(b)
			on.fill(1)
			off.fill(1)
			compare(b,
				&side{name: "on", workers: 1, do: func(_, i int) error { return request(on, i) }},
				&side{name: "off", workers: 1, do: func(_, i int) error { return request(off, i) }})
		})
	}
}
