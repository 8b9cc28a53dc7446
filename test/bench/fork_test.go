package bench

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/miniapi/miniapi"
)

// BenchmarkFork measures, from the request for a server to its stop, a fork of a server with
// CustomResourceDefinitions beside a start followed by their installation.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{0, 20, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			origin := newDefinitions(b, n)
			compare(b, &side{name: "fork", workers: 1, do: func(_, _ int) error {
				fork, err := origin.server.Fork(b.Context())
				if err != nil {
					return err
				}
				f := &definitions{base: fork.URL(), fixture: fixture{b: b, server: fork, http: origin.http}}
				return f.createAndStop()
			}}, &side{name: "start", workers: 1, do: func(_, _ int) error {
				server, err := miniapi.Start(b.Context(), miniapi.Config{})
				if err != nil {
					return err
				}
				f := &definitions{base: server.URL(), fixture: fixture{b: b, server: server, http: origin.http}}
				for range n {
					f.define()
				}
				return f.createAndStop()
			}})
		})
	}
}

// createAndStop creates an object and stops the server.
func (f *definitions) createAndStop() error {
	err := f.send(http.MethodPost, f.url(""), configMap("first", ""))
	f.http.CloseIdleConnections()
	if err != nil {
		return err
	}
	return f.server.Stop(context.WithoutCancel(f.b.Context()))
}

// BenchmarkReset measures the reset of a server with 1,000 objects, and the restore of them.
func BenchmarkReset(b *testing.B) {
	f := newFixture(b)
	for i := range 1000 {
		if err := f.send(http.MethodPost, f.url(""), configMap(fmt.Sprint("c", i), payload)); err != nil {
			b.Fatal(err)
		}
	}
	snapshot, err := f.server.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	compare(b, &side{name: "reset", workers: 1, do: func(_, _ int) error {
		return f.server.Reset(b.Context(), miniapi.ResetOptions{})
	}}, &side{name: "restore", workers: 1, do: func(_, _ int) error {
		return f.server.Restore(b.Context(), snapshot)
	}})
}
