package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// These benchmarks measure a request without the store: as with a cache, all requests share the
// same entries.

// sharedEntries is a store that returns the same entries to all requests.
type sharedEntries struct {
	storage.Interface
	entries []*storage.Entry
	mu      sync.Mutex // guards watches
	watches []chan storage.Event
}

func (s *sharedEntries) Get(context.Context, string, storage.GetOptions) (*storage.Entry, error) {
	return s.entries[0], nil
}

func (s *sharedEntries) GetList(context.Context, string, storage.ListOptions) (*storage.Page, error) {
	return &storage.Page{Entries: s.entries, Revision: 100_000}, nil
}

func (s *sharedEntries) Watch(context.Context, string, storage.WatchOptions) (storage.Watcher, error) {
	events := make(chan storage.Event, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, events)
	return sharedWatcher(events), nil
}

type sharedWatcher chan storage.Event

func (w sharedWatcher) Events() <-chan storage.Event { return w }
func (w sharedWatcher) Stop()                        {}
func (w sharedWatcher) Progress() storage.WatchProgress {
	return storage.WatchProgress{}
}

// benchServer returns a server with n pods of about 5 KB in JSON.
func benchServer(b *testing.B, n int) (*Server, *sharedEntries) {
	b.Helper()
	return newPodServer(b, n, nil)
}

// newPodServer is benchServer with a configuration. configure may be nil.
func newPodServer(b testing.TB, n int, configure func(*Config)) (*Server, *sharedEntries) {
	b.Helper()
	shared := &sharedEntries{}
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: func(codec storage.Codec) storage.Interface {
		decoder := storage.NewDecoder(codec, versioner.APIObjectVersioner{}).With(storage.NewMemo(storage.DefaultMemo))
		for i := range n {
			data, err := codec.Encode(benchPod(i))
			if err != nil {
				b.Fatal(err)
			}
			shared.entries = append(shared.entries, decoder.Entry("/pods/default/a", int64(1000+i), data))
		}
		return shared
	}})
	for _, r := range kinds.Resources(feature.Default()) {
		if r.Name == "pods" && r.Group == "" {
			if err := catalog.Add(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	config := Config{Catalog: catalog, Scheme: kinds.Scheme()}
	if configure != nil {
		configure(&config)
	}
	s, err := New(config)
	if err != nil {
		b.Fatal(err)
	}
	return s, shared
}

func benchPod(i int) *corev1.Pod {
	started := metav1.NewTime(time.Unix(1_700_000_000, 0))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("web-5d8f6c7b9d-%05d", i), Namespace: "default", UID: "0f8fad5b-d9cb-469f-a165-70867728950e",
		GenerateName: "web-5d8f6c7b9d-", CreationTimestamp: started,
		Labels: map[string]string{"app": "web", "tier": "frontend", "shard": fmt.Sprint(i % 100)},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubelet", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", Time: &started,
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{` + strings.Repeat(`"f:conditions":{".":{},"f:type":{}},`, 85) + `"f:phase":{}}}`)},
		}},
	}}
	pod.Spec.NodeName = fmt.Sprintf("node-%03d", i%100)
	for _, name := range []string{"web", "proxy"} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: name, Image: "registry.example.com/team/" + name + ":v1.24.3", Args: []string{"--listen=:8080"},
			Env:       []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "DB_HOST", Value: "db.prod.svc.cluster.local"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")}},
		})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Ready: true, Image: "registry.example.com/team/" + name + ":v1.24.3",
			ContainerID: "containerd://" + strings.Repeat("0123456789abcdef", 4),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		})
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: started})
	}
	pod.Status.Phase, pod.Status.PodIP, pod.Status.StartTime = corev1.PodRunning, "10.1.2.3", &started
	return pod
}

// sink is a ResponseWriter that counts bytes.
type sink struct {
	header http.Header
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Flush()              {}
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

var benchFormats = []struct{ name, accept string }{
	{"json", "application/json"},
	{"protobuf", "application/vnd.kubernetes.protobuf"},
	{"metadata", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
}

func benchRequests(b *testing.B, s *Server, path, accept string) {
	b.Helper()
	serve := func() int {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Accept", accept)
		out := &sink{header: http.Header{}}
		s.Handler().ServeHTTP(out, r)
		return out.bytes
	}
	b.SetBytes(int64(serve()))
	b.ReportAllocs()
	for b.Loop() {
		serve()
	}
}

func BenchmarkSharedList(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		for _, f := range benchFormats {
			b.Run(fmt.Sprintf("%s/%d", f.name, n), func(b *testing.B) {
				s, _ := benchServer(b, n)
				benchRequests(b, s, "/api/v1/namespaces/default/pods", f.accept)
			})
		}
	}
}

func BenchmarkSharedGet(b *testing.B) {
	for _, f := range benchFormats[:2] {
		b.Run(f.name, func(b *testing.B) {
			s, _ := benchServer(b, 1)
			benchRequests(b, s, "/api/v1/namespaces/default/pods/a", f.accept)
		})
	}
}

// BenchmarkFanOut sends each event to 200 watches. An operation is one event with all deliveries.
func BenchmarkFanOut(b *testing.B) {
	for _, f := range benchFormats[:2] {
		b.Run(f.name, func(b *testing.B) { benchFanOut(b, f.accept) })
	}
}

func benchFanOut(b *testing.B, accept string) {
	const watches, window = 200, 1000
	s, shared := benchServer(b, window)
	var open sync.WaitGroup
	for range watches {
		open.Go(func() { // ends with its events
			r := httptest.NewRequest("GET", "/api/v1/namespaces/default/pods?watch=1", nil)
			r.Header.Set("Accept", accept)
			s.Handler().ServeHTTP(&sink{header: http.Header{}}, r)
		})
	}
	for opened := 0; opened < watches; {
		shared.mu.Lock()
		opened = len(shared.watches)
		shared.mu.Unlock()
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		// A new revision makes the body of the entry a new one.
		entry := shared.entries[i%window].At(int64(100_000 + i))
		for _, events := range shared.watches {
			events <- storage.Event{Type: watch.Modified, Entry: entry, Revision: entry.Revision}
		}
		i++
	}
	for _, events := range shared.watches {
		close(events)
	}
	open.Wait()
}
