package bench

import (
	"fmt"
	"net/http"
	"runtime/metrics"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// BenchmarkNamespaceDeletion measures the time from the DELETE of a namespace until a watch reports
// its end, by the number of objects in it.
func BenchmarkNamespaceDeletion(b *testing.B) {
	for _, objects := range []int{0, 1000} {
		b.Run(fmt.Sprint(objects), func(b *testing.B) {
			f := newFixture(b)
			client := kubernetes.NewForConfigOrDie(f.server.RESTConfig())
			var total time.Duration
			for i := 0; b.Loop(); i++ {
				name := fmt.Sprintf("n%d", i)
				ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
				_, err := client.CoreV1().Namespaces().Create(b.Context(), ns, metav1.CreateOptions{})
				f.check(err)
				for j := range objects {
					f.check(f.send(http.MethodPost, f.server.URL()+"/api/v1/namespaces/"+name+"/configmaps", configMap(fmt.Sprintf("m%d", j), "")))
				}
				events, err := client.CoreV1().Namespaces().Watch(b.Context(), metav1.ListOptions{
					FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(),
				})
				f.check(err)
				began := time.Now()
				f.check(client.CoreV1().Namespaces().Delete(b.Context(), name, metav1.DeleteOptions{}))
				f.awaitDeletion(events)
				total += time.Since(began)
			}
			b.ReportMetric(milliseconds(total)/float64(b.N), "ms/deletion")
		})
	}
}

// BenchmarkCollection measures the time from the DELETE of an owner in the foreground until a watch
// reports its end, by the number of its dependents.
func BenchmarkCollection(b *testing.B) {
	for _, dependents := range []int{1000, 10000} {
		b.Run(fmt.Sprint(dependents), func(b *testing.B) {
			f := newFixture(b)
			client := kubernetes.NewForConfigOrDie(f.server.RESTConfig())
			var total time.Duration
			for b.Loop() {
				owner, err := client.CoreV1().ConfigMaps("default").Create(b.Context(),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
				f.check(err)
				for i := range dependents {
					f.check(f.send(http.MethodPost, f.url(""), fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d%d",
						"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q,"blockOwnerDeletion":true}]}}`, i, owner.UID)))
				}
				events, err := client.CoreV1().ConfigMaps("default").Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=owner"})
				f.check(err)
				began := time.Now()
				policy := metav1.DeletePropagationForeground
				f.check(client.CoreV1().ConfigMaps("default").Delete(b.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &policy}))
				f.awaitDeletion(events)
				total += time.Since(began)
			}
			b.ReportMetric(milliseconds(total)/float64(b.N), "ms/deletion")
		})
	}
}

func (f *fixture) check(err error) {
	f.b.Helper()
	if err != nil {
		f.b.Fatal(err)
	}
}

// awaitDeletion reads a watch until it reports a deletion.
func (f *fixture) awaitDeletion(events watch.Interface) {
	f.b.Helper()
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted {
			return
		}
	}
	f.b.Fatal("the watch has ended")
}

// BenchmarkLargeNamespaceDeletion measures the deletion of a namespace with 100,000 objects, and by
// how much the heap grows meanwhile: etcd keeps the history of the deletions, and the watch cache
// its window of events, but no list of the objects is held.
func BenchmarkLargeNamespaceDeletion(b *testing.B) {
	const objects, writers = 100_000, 4
	f := newFixture(b)
	client := kubernetes.NewForConfigOrDie(f.server.RESTConfig())
	namespaces := client.CoreV1().Namespaces()
	for b.Loop() {
		_, err := namespaces.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "large"}}, metav1.CreateOptions{})
		f.check(err)
		var group errgroup.Group
		for w := range writers {
			group.Go(func() error {
				for i := range objects / writers {
					if err := f.send(http.MethodPost, f.server.URL()+"/api/v1/namespaces/large/configmaps", configMap(fmt.Sprintf("m%d-%d", w, i), "")); err != nil {
						return err
					}
				}
				return nil
			})
		}
		f.check(group.Wait())
		events, err := namespaces.Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=large"})
		f.check(err)
		stop := samplePeak()
		before, began := liveHeap(), time.Now()
		f.check(namespaces.Delete(b.Context(), "large", metav1.DeleteOptions{}))
		f.awaitDeletion(events)
		b.ReportMetric(milliseconds(time.Since(began)), "ms/deletion")
		b.ReportMetric(float64(before)/(1<<20), "MiB-before")
		b.ReportMetric((float64(stop())-float64(before))/(1<<20), "MiB-growth")
	}
}

// samplePeak samples the live heap until stop, which returns the greatest sample.
func samplePeak() (stop func() uint64) {
	end, peak := make(chan struct{}), make(chan uint64)
	go func() { // ends with stop
		var greatest uint64
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
				metrics.Read(sample)
				greatest = max(greatest, sample[0].Value.Uint64())
			case <-end:
				tick.Stop()
				peak <- greatest
				return
			}
		}
	}()
	return func() uint64 {
		close(end)
		return <-peak
	}
}
