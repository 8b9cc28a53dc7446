package bench

import (
	"bufio"
	"fmt"
	"net/http"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// BenchmarkWatchFanOut measures one write received by 1 to 1,000 watchers, on both sides. An
// operation is a write and its delivery to all watchers.
func BenchmarkWatchFanOut(b *testing.B) {
	for _, watchers := range []int{1, 200, 1000} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			f := newFixture(b)
			f.fill(1)
			var overHTTP, overGRPC sync.WaitGroup
			f.watchHTTP(watchers, &overHTTP)
			f.watchEtcd(watchers, &overGRPC)
			compare(b, &side{name: "miniapi", workers: 1, do: func(_, i int) error {
				overHTTP.Add(watchers)
				if err := f.send(http.MethodPut, f.url("/item-00000"), configMap("item-00000", fmt.Sprint(i))); err != nil {
					return err
				}
				overHTTP.Wait()
				return nil
			}}, &side{name: "etcd", workers: 1, do: func(_, i int) error {
				overGRPC.Add(watchers)
				if _, err := f.etcd.Put(b.Context(), "/raw/item-00000", payload+fmt.Sprint(i)); err != nil {
					return err
				}
				overGRPC.Wait()
				return nil
			}})
		})
	}
}

// BenchmarkWatchesOfOtherObjects measures writes with 2,000 watches by name on other objects, in
// comparison with writes without watches.
func BenchmarkWatchesOfOtherObjects(b *testing.B) {
	watched, idle := newFixture(b), newFixture(b)
	for i := range 2000 {
		resp, err := watched.http.Get(watched.url(fmt.Sprintf("?watch=true&fieldSelector=metadata.name=other-%d", i)))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { resp.Body.Close() })
	}
	create := func(f *fixture) func(worker, i int) error {
		return func(_, i int) error {
			name := fmt.Sprintf("item-%05d", i)
			return f.send(http.MethodPost, f.url(""), configMap(name, ""))
		}
	}
	compare(b, &side{name: "watched", workers: 4, do: create(watched)}, &side{name: "idle", workers: 4, do: create(idle)})
}

// watchHTTP counts seen down for every event of every watcher. It returns after all watchers
// have received the initial events.
func (f *fixture) watchHTTP(watchers int, seen *sync.WaitGroup) {
	f.b.Helper()
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := f.get(f.url(""), &list); err != nil {
		f.b.Fatal(err)
	}
	url := f.url("") + "?watch=true&resourceVersion=" + list.Metadata.ResourceVersion
	for range watchers {
		resp, err := f.http.Get(url)
		if err != nil {
			f.b.Fatal(err)
		}
		f.b.Cleanup(func() { resp.Body.Close() })
		go func() { // ends when the body is closed
			lines := bufio.NewReaderSize(resp.Body, 16<<10)
			for {
				if _, err := lines.ReadSlice('\n'); err != nil {
					return
				}
				seen.Done()
			}
		}()
	}
}

// watchEtcd has one gRPC stream per watcher, as separate clients have.
func (f *fixture) watchEtcd(watchers int, seen *sync.WaitGroup) {
	f.b.Helper()
	for range watchers {
		watcher := clientv3.NewWatcher(f.etcd)
		f.b.Cleanup(func() { watcher.Close() })
		events := watcher.Watch(f.b.Context(), "/raw/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		<-events
		go func() { // ends when the watcher is closed
			for resp := range events {
				for range resp.Events {
					seen.Done()
				}
			}
		}()
	}
}
