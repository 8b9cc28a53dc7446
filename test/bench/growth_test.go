package bench

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// BenchmarkGrowth measures how the CPU time of an operation and the memory of a server grow with
// the number of objects, watchers, CustomResourceDefinitions, and servers in one process. The name
// of a result is its axis with the value, the server and the operation.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		growth(b, "objects", n, (*subject).growObjects)
	}
	for _, n := range []int{1, 200, 1_000, 5_000} {
		growth(b, "watchers", n, (*subject).growWatchers)
	}
	for _, n := range []int{0, 100, 500} {
		growth(b, "definitions", n, (*subject).growDefinitions)
	}
	for _, n := range []int{1, 10, 50, 200} {
		b.Run(fmt.Sprintf("servers=%d/miniapi", n), func(b *testing.B) { growServers(b, n) })
	}
}

// growthPoint is one point of an axis.
type growthPoint struct {
	*testing.B
	n int
}

// growth runs the operations at one point of an axis, with each subject.
func growth(b *testing.B, axis string, n int, grow func(*subject, growthPoint)) {
	b.Run(fmt.Sprintf("%s=%d", axis, n), func(b *testing.B) {
		for _, name := range subjectNames() {
			b.Run(name, func(b *testing.B) { grow(newSubject(b, name), growthPoint{b, n}) })
		}
	})
}

// operation measures an operation of a subject.
func (p growthPoint) operation(s *subject, name string, do func(i int) error) {
	p.Run(name, func(b *testing.B) { s.measure(b, do) })
}

// memory reports the memory of a subject.
func (p growthPoint) memory(s *subject) {
	p.Run("memory", func(b *testing.B) {
		b.ReportMetric(s.usage().resident, "MB-RSS")
	})
}

// growObjects measures requests of a server with n ConfigMaps, of which ten share a label.
func (s *subject) growObjects(p growthPoint) {
	s.fillGroups(p.n)
	created := 0
	get := func(path string) func(int) error {
		return func(int) error { return s.send(http.MethodGet, s.url(path), nil) }
	}
	p.operation(s, "get", get("/item-00000"))
	p.operation(s, "create", func(int) error {
		created++
		return s.request(http.MethodPost, "/api/v1/namespaces/kube-public/configmaps", configMap(fmt.Sprint("new-", created), ""))
	})
	p.operation(s, "update", func(i int) error {
		return s.send(http.MethodPut, s.url("/item-00000"), configMap("item-00000", fmt.Sprint(i)))
	})
	p.operation(s, "list by label, 10 objects", get("?labelSelector=group%3Dgroup-00001"))
	p.operation(s, "list by name", get("?fieldSelector=metadata.name%3Ditem-00000"))
	p.operation(s, "page of 100", get("?limit=100"))
	p.operation(s, "watch by name, first event", func(int) error { return s.firstEvent("item-00000") })
	p.memory(s)
}

// fillGroups stores n ConfigMaps, with the groups that their labels name.
func (s *subject) fillGroups(n int) {
	s.b.Helper()
	const first, stored = "item-00000", "/registry/configmaps/default/"
	body := strings.Replace(string(configMap(first, "")), `"metadata":{`, `"metadata":{"labels":{"group":"group-00000"},`, 1)
	if err := s.send(http.MethodPost, s.url(""), []byte(body)); err != nil {
		s.b.Fatal(err)
	}
	resp, err := s.etcd.Get(s.b.Context(), stored+first)
	if err != nil || len(resp.Kvs) != 1 {
		s.b.Fatalf("%v: %v", resp, err)
	}
	value := string(resp.Kvs[0].Value)
	var ops []clientv3.Op
	for i := 1; i <= n; i++ {
		if i == n || len(ops) == 2*filledAtOnce {
			if _, err := s.etcd.Txn(s.b.Context()).Then(ops...).Commit(); err != nil {
				s.b.Fatal(err)
			}
			ops = ops[:0]
		}
		name := fmt.Sprintf("item-%05d", i)
		object := strings.NewReplacer(first, name, "group-00000", fmt.Sprintf("group-%05d", i/10)).Replace(value)
		ops = append(ops, clientv3.OpPut(stored+name, object))
	}
}

// firstEvent opens a watch of one object and closes it after the first event.
func (s *subject) firstEvent(name string) error {
	resp, err := s.http.Get(s.url("?watch=true&fieldSelector=metadata.name%3D" + name))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = bufio.NewReaderSize(resp.Body, 16<<10).ReadSlice('\n')
	return err
}

// growWatchers measures writes with n watchers, of the written object and of another one.
func (s *subject) growWatchers(p growthPoint) {
	s.fillGroups(1)
	var seen sync.WaitGroup
	s.watch(p.n, "?watch=true&fieldSelector=metadata.name%3Ditem-00000&resourceVersion=0", &seen)
	p.operation(s, "update of another object", func(i int) error {
		return s.send(http.MethodPut, s.url("/other"), configMap("other", fmt.Sprint(i)))
	})
	p.operation(s, "update and delivery to all", func(i int) error {
		seen.Add(p.n)
		if err := s.send(http.MethodPut, s.url("/item-00000"), configMap("item-00000", fmt.Sprint(i, time.Now().UnixNano()))); err != nil {
			return err
		}
		seen.Wait()
		return nil
	})
	p.memory(s)
}

// watch opens watches, each of which has one initial event. It counts seen down for every other
// event.
func (s *subject) watch(watchers int, query string, seen *sync.WaitGroup) {
	s.b.Helper()
	if err := s.send(http.MethodPost, s.url(""), configMap("other", "")); err != nil {
		s.b.Fatal(err)
	}
	for range watchers {
		resp, err := s.http.Get(s.url(query))
		if err != nil {
			s.b.Fatal(err)
		}
		s.b.Cleanup(func() { resp.Body.Close() })
		lines := bufio.NewReaderSize(resp.Body, 4<<10)
		if _, err := lines.ReadSlice('\n'); err != nil {
			s.b.Fatal(err)
		}
		go func() { // ends when the body is closed
			for {
				if _, err := lines.ReadSlice('\n'); err != nil {
					return
				}
				seen.Done()
			}
		}()
	}
}

// growDefinitions measures requests of a server with n definitions.
func (s *subject) growDefinitions(p growthPoint) {
	defined := &definitions{fixture: s.fixture, base: s.address.URL}
	for range p.n {
		defined.define()
	}
	created := 0
	p.operation(s, "create", func(int) error {
		created++
		return s.send(http.MethodPost, s.url(""), configMap(fmt.Sprint("new-", created), ""))
	})
	p.operation(s, "discovery", func(int) error {
		defined.read("/apis", aggregatedDiscovery)
		return nil
	})
	p.operation(s, "definition, then OpenAPI v2", func(int) error {
		defined.define()
		defined.read("/openapi/v2", "*/*")
		return nil
	})
	p.memory(s)
}

// growServers measures n idle servers in one process.
func growServers(b *testing.B, n int) {
	s := newMiniapi(b, n)
	started := s.usage()
	p := growthPoint{b, n}
	p.Run("start of one", func(b *testing.B) {
		b.ReportMetric(float64(started.cpu.Microseconds())/float64(n), "cpu-us/op")
	})
	p.operation(s, "get", func(int) error { return s.request(http.MethodGet, "/api/v1/namespaces/default", nil) })
	p.Run("idle second of all", func(b *testing.B) {
		before := s.usage()
		began := time.Now()
		for range b.N {
			time.Sleep(2 * time.Second)
		}
		b.ReportMetric(float64((s.usage().cpu-before.cpu).Microseconds())/time.Since(began).Seconds(), "cpu-us/op")
	})
	p.memory(s)
}
