package etcd

import (
	"fmt"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage"
)

// BenchmarkCreate compares the store with plain transactions of the etcd client, on the same etcd
// and with the same bytes.
func BenchmarkCreate(b *testing.B) {
	s := newStore(b, Config{})
	data, err := configMaps{}.Encode(configMap("a"))
	if err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	run := func(create func(n int64) error) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8) // 16 on two processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := create(n.Add(1)); err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
	b.Run("etcd", run(func(n int64) error {
		key := fmt.Sprintf("/registry/raw/default/%d", n)
		_, err := s.client.Txn(b.Context()).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, string(data))).
			Commit()
		return err
	}))
	b.Run("store", run(func(n int64) error {
		name := fmt.Sprint(n)
		_, err := s.Create(b.Context(), "/configmaps/default/"+name, configMap(name), storage.CreateOptions{})
		return err
	}))
}

// BenchmarkList lists 10,000 objects without decoding them.
func BenchmarkList(b *testing.B) {
	s := newStore(b, Config{})
	for i := range 10000 {
		create(b, s, i)
	}
	b.Run("etcd", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			resp, err := s.client.Get(b.Context(), "/registry/configmaps/", clientv3.WithPrefix(), clientv3.WithSerializable())
			if err != nil || len(resp.Kvs) != 10000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := s.GetList(b.Context(), "/configmaps/", storage.ListOptions{Recursive: true})
			if err != nil || len(page.Entries) != 10000 {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWatch creates objects that 200 watches report.
func BenchmarkWatch(b *testing.B) {
	const watches = 200
	s := newStore(b, Config{})
	current := create(b, s, 0)
	watchers := make([]storage.Watcher, watches)
	for i := range watchers {
		w, err := s.Watch(b.Context(), "/configmaps/", storage.WatchOptions{Recursive: true, ResourceVersion: fmt.Sprint(current.Revision)})
		if err != nil {
			b.Fatal(err)
		}
		watchers[i] = w
	}
	var n int
	for b.Loop() {
		n++
		create(b, s, n)
		for _, w := range watchers {
			<-w.Events()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*watches), "ns/event")
	for _, w := range watchers {
		w.Stop()
	}
}
