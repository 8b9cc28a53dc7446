package watchcache_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
	"github.com/miniapi/miniapi/storage/watchcache"
)

// stores returns a store through the cache and the underlying store.
func stores(b *testing.B) (cached, direct storage.Interface) {
	b.Helper()
	server := startEmbedded(b)
	backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true, Member: server})
	if err != nil {
		b.Fatal(err)
	}
	codec := storagetest.Kinds()[0].Codec
	direct = backend.Store(codec)
	return startCache(b, watchcache.Config{Log: backend}).Store("/pods/", codec, direct), direct
}

func write(b *testing.B, s storage.Interface, i int) string {
	kind := storagetest.Kinds()[0]
	key := kind.Key("ns1", fmt.Sprint(i))
	if _, err := s.Create(b.Context(), key, kind.New("ns1", fmt.Sprint(i), "1"), storage.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	return key
}

// BenchmarkReadAfterWrite measures the wait of a consistent read after a write.
func BenchmarkReadAfterWrite(b *testing.B) {
	cached, direct := stores(b)
	n := 0
	for name, s := range map[string]storage.Interface{"cached": cached, "direct": direct} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n++
				key := write(b, s, n)
				if _, err := s.Get(b.Context(), key, storage.GetOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGet measures a consistent read without concurrent writes.
func BenchmarkGet(b *testing.B) {
	cached, direct := stores(b)
	key := write(b, cached, 1)
	for name, s := range map[string]storage.Interface{"cached": cached, "direct": direct} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(b.Context(), key, storage.GetOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWrite measures the cost of feeding the cache per write.
func BenchmarkWrite(b *testing.B) {
	b.Run("cached", func(b *testing.B) {
		cached, _ := stores(b)
		n := 0
		for b.Loop() {
			n++
			write(b, cached, n)
		}
	})
	b.Run("direct", func(b *testing.B) {
		server, err := embedded.Start(b.Context(), embedded.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer server.Close(context.WithoutCancel(b.Context()))
		backend, err := etcd.New(etcd.Config{Client: server.Client(), LocalReads: true})
		if err != nil {
			b.Fatal(err)
		}
		direct := backend.Store(storagetest.Kinds()[0].Codec)
		n := 0
		for b.Loop() {
			n++
			write(b, direct, n)
		}
	})
}

// BenchmarkList lists 10,000 objects.
func BenchmarkList(b *testing.B) {
	cached, _ := stores(b)
	for i := range 10_000 {
		write(b, cached, i)
	}
	for name, opts := range map[string]storage.ListOptions{"all": {}, "page": {Limit: 500}} {
		opts.Recursive = true
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cached.GetList(b.Context(), "/pods/", opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
