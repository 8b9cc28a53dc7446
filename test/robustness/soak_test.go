package robustness_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/test/robustness/cluster"
)

const (
	soakRate     = 200 // writes in a second
	soakWatchers = 500
	soakObjects  = 100
	soakSamples  = 24
)

var (
	soak     = flag.Duration("soak", 0, "`time` of TestSoak; 0: skip it")
	soakFile = flag.String("soak-file", "", "`file` for the samples, as results of benchmarks")
)

// TestSoak writes 200 times a second while 500 clients watch, and samples the memory and the
// goroutines of the server. The first quarter fills the caches and the history. After it, both must
// stay flat: the median of the last quarter is at most 25 % above the median of the second one.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("-soak is 0")
	}
	topology, err := cluster.Start(t.Context(), cluster.Config{
		Program: program(t), Dir: t.TempDir(), Args: []string{"--history", "1m"},
	})
	check(t, err)
	t.Cleanup(topology.Close)
	server := topology.Servers[0]
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	check(t, err)
	for n := range soakObjects {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: soakName(n)}}
		_, err := clients.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), object, metav1.CreateOptions{})
		check(t, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	load := &soakLoad{clients: clients}
	load.start(ctx)
	series := map[string][]float64{}
	ticks := time.NewTicker(*soak / soakSamples)
	defer ticks.Stop()
	for range soakSamples {
		<-ticks.C
		sample(t, server, series)
	}
	stop()
	load.running.Wait()
	check(t, errors.Join(load.errs...))
	t.Logf("%v: %d writes, %d events to %d watches", *soak, load.writes.Load(), load.events.Load(), soakWatchers)
	report := flatness(t, series)
	if *soakFile != "" {
		check(t, os.WriteFile(*soakFile, []byte(report), 0o600))
	}
}

func soakName(n int) string { return fmt.Sprintf("soak-%d", n) }

// soakLoad writes objects at a fixed rate while others watch them.
type soakLoad struct {
	clients kubernetes.Interface
	running sync.WaitGroup
	writes  atomic.Int64
	events  atomic.Int64

	mu   sync.Mutex // guards errs
	errs []error
}

func (l *soakLoad) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func (l *soakLoad) start(ctx context.Context) {
	for n := range soakWatchers {
		l.running.Go(func() { l.watch(ctx, soakName(n%soakObjects)) }) // ends with ctx
	}
	for n := range 10 {
		l.running.Go(func() { l.write(ctx, n) }) // ends with ctx
	}
}

// watch watches one object, again whenever the server ends the watch.
func (l *soakLoad) watch(ctx context.Context, name string) {
	for ctx.Err() == nil {
		w, err := l.clients.CoreV1().ConfigMaps(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			if ctx.Err() == nil {
				l.fail(err)
			}
			return
		}
		for range w.ResultChan() {
			l.events.Add(1)
		}
	}
}

// write writes a tenth of the rate.
func (l *soakLoad) write(ctx context.Context, writer int) {
	ticks := time.NewTicker(10 * time.Second / soakRate)
	defer ticks.Stop()
	for n := writer; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		patch := fmt.Sprintf(`{"data":{"value":"%d %d %s"}}`, writer, n, strings.Repeat("x", 500))
		_, err := l.clients.CoreV1().ConfigMaps(metav1.NamespaceDefault).Patch(context.WithoutCancel(ctx), soakName(n*7%soakObjects), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			l.fail(err)
			return
		}
		l.writes.Add(1)
	}
}

// soakMetrics are the metrics to sample.
var soakMetrics = []string{"process_resident_memory_bytes", "go_memstats_heap_inuse_bytes", "go_goroutines"}

func sample(t *testing.T, server *cluster.Server, series map[string][]float64) {
	t.Helper()
	values, err := server.Metrics(t.Context())
	check(t, err)
	for _, name := range soakMetrics {
		if values[name] == 0 {
			t.Fatalf("/metrics has no %s", name)
		}
		series[name] = append(series[name], values[name])
	}
}

// flatness checks the series and returns them in the format of benchmarks, relative to the median
// of the second quarter.
func flatness(t *testing.T, series map[string][]float64) string {
	t.Helper()
	var text strings.Builder
	for _, name := range soakMetrics {
		values := series[name]
		quarter := len(values) / 4
		base, last := median(values[quarter:2*quarter]), median(values[len(values)-quarter:])
		t.Logf("%s: median %.4g in the second quarter, %.4g in the last one, maximum %.4g", name, base, last, slices.Max(values))
		if last > 1.25*base {
			t.Errorf("%s has grown by %.0f %%", name, 100*(last/base-1))
		}
		for n, value := range values {
			after := time.Duration(n+1) * *soak / soakSamples
			fmt.Fprintf(&text, "BenchmarkSoak/seconds=%.0f/miniapi/%s 1 %.3f ratio\n", after.Seconds(), strings.TrimSuffix(name, "_bytes"), value/base)
		}
	}
	return text.String()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
