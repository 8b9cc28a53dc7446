package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/storage/embedded"
)

// BenchmarkStart measures a server from its start until its first object is created, and its
// stop, beside the embedded etcd alone with its first key.
func BenchmarkStart(b *testing.B) {
	f := &fixture{b: b, http: &http.Client{}}
	compare(b, &side{name: "miniapi", workers: 1, do: func(_, i int) error {
		return f.startAndCreate()
	}}, &side{name: "etcd", workers: 1, do: func(_, i int) error {
		return f.startAndPut()
	}})
}

// BenchmarkStop measures the stop of a server that has been used.
func BenchmarkStop(b *testing.B) {
	f := &fixture{b: b, http: &http.Client{}}
	var stops time.Duration
	for b.Loop() {
		if err := f.startAndUse(); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := f.server.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
		stops += time.Since(began)
	}
	b.ReportMetric(milliseconds(stops)/float64(b.N), "ms/stop")
}

func (f *fixture) startAndCreate() error {
	if err := f.startAndUse(); err != nil {
		return err
	}
	return f.server.Stop(f.b.Context())
}

// startAndUse returns a running server that has served requests.
func (f *fixture) startAndUse() error {
	server, err := miniapi.Start(f.b.Context(), miniapi.Config{})
	if err != nil {
		return err
	}
	f.server = server
	defer f.http.CloseIdleConnections()
	return f.send(http.MethodPost, f.url(""), configMap("first", ""))
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

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkIdle measures the CPU time that a server without requests uses. An operation is a second
// of ten servers.
func BenchmarkIdle(b *testing.B) {
	const servers = 10
	for range servers {
		newFixture(b)
	}
	time.Sleep(time.Second) // the work after the start
	began := cpuTime(b)
	b.ResetTimer()
	for range b.N {
		time.Sleep(time.Second)
	}
	b.ReportMetric(100*(cpuTime(b)-began).Seconds()/float64(b.N)/servers, "%-of-a-core/server")
}
