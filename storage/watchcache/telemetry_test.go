package watchcache_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/storage"
)

// metrics returns the counters and gauges of a cache, by name and label.
func (w *env) metrics() map[string]float64 {
	w.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(w.cache); err != nil {
		w.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return values
}

// TestMetrics checks the metrics after the log was lost and compacted.
func TestMetrics(t *testing.T) {
	w := newEnv(t)
	events := w.watch()
	w.wantAdded(events, w.create("a"))
	restore := w.log.interrupt()
	w.create("b")
	c := w.create("c")
	if _, err := w.client.Compact(t.Context(), c.Revision); err != nil {
		t.Fatal(err)
	}
	restore()
	<-events // the error that ends the watch
	if _, err := w.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	got := w.metrics()
	for name, want := range map[string]float64{
		"miniapi_watch_cache_initializations_total": 2,
		"miniapi_watch_cache_log_lost_total":        1,
		"miniapi_watch_cache_watchers_behind_total": 1,
		"miniapi_watch_cache_entries":               3,
		"miniapi_watch_cache_resource_version":      float64(c.Revision),
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if got["miniapi_watch_cache_reads_total cache"] == 0 {
		t.Error("no read was answered by the cache")
	}
}
