package flowcontrol

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// families returns the number of series of each metric.
func families(t *testing.T, m *metrics) map[string]int {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, family := range gathered {
		counts[family.GetName()] = len(family.GetMetric())
	}
	return counts
}

// The metrics keep the series of present FlowSchemas, with their values, and no other series.
func TestSeriesOfDeletedFlowSchemas(t *testing.T) {
	m := newMetrics()
	kept := labels{level: "level", schema: "kept"}
	first := m.series(kept)
	m.retain(map[labels]*series{kept: first})
	for _, name := range []string{"a", "b", "c"} {
		deleted := labels{level: "level", schema: name}
		old := Classification{series: m.series(deleted)}
		m.retain(map[labels]*series{kept: m.series(kept), deleted: old.series})
		execution := old.Begin("get")
		m.retain(map[labels]*series{kept: m.series(kept)})
		execution.End()
	}
	if m.series(kept) != first {
		t.Error("the series of a FlowSchema were replaced")
	}
	counts := families(t, m)
	if len(counts) != len(m.All) {
		t.Errorf("metrics %v", counts)
	}
	for name, count := range counts {
		want := 1
		if name == "apiserver_flowcontrol_request_execution_seconds" {
			want = 2 // by type
		}
		if count != want {
			t.Errorf("%s has %d series, want %d", name, count, want)
		}
	}
}

func TestObservationsDoNotAllocate(t *testing.T) {
	class := &Classification{series: newMetrics().series(labels{"level", "schema"})}
	for _, c := range []*Classification{class, nil} {
		if n := testing.AllocsPerRun(100, func() { c.Begin("get").End(); c.Reject() }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkExecution(b *testing.B) {
	class := &Classification{series: newMetrics().series(labels{"level", "schema"})}
	b.ReportAllocs()
	for b.Loop() {
		class.Begin("get").End()
	}
}
