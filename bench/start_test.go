package bench

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/storage/embedded"
)

// BenchmarkStart: a server from nothing to its first object created, and its
// stop, beside the same with the embedded etcd alone and its first key.
func BenchmarkStart(b *testing.B) {
	f := &fixture{b: b, http: &http.Client{}}
	compare(b, &side{name: "miniapi", workers: 1, do: func(_, i int) error {
		return f.startAndCreate()
	}}, &side{name: "etcd", workers: 1, do: func(_, i int) error {
		return f.startAndPut()
	}})
}

func (f *fixture) startAndCreate() error {
	server, err := miniapi.Start(f.b.Context(), miniapi.Config{})
	if err != nil {
		return err
	}
	f.server = server
	if err := f.send(http.MethodPost, f.url(""), configMap("first", "")); err != nil {
		return err
	}
	f.http.CloseIdleConnections()
	return server.Stop(f.b.Context())
}

func (f *fixture) startAndPut() error {
	server, err := embedded.Start(f.b.Context(), embedded.Config{})
	if err != nil {
		return err
	}
	if _, err := server.Client().Put(f.b.Context(), "/raw/first", fmt.Sprint(payload)); err != nil {
		return err
	}
	return server.Close(f.b.Context())
}
