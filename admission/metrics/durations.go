package metrics

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/registry"
)

// operations are the operations that requests have.
var operations = [...]registry.Operation{
	registry.OperationCreate, registry.OperationUpdate, registry.OperationDelete, registry.OperationConnect,
}

// durations observes into a histogram with the further labels operation and rejected. Their values
// are bound when they are first used: every write is observed for each plugin, and most
// combinations never occur.
type durations struct {
	vec    *prometheus.HistogramVec
	labels []string // the values of the first labels
	bound  [len(operations)][2]atomic.Pointer[prometheus.Observer]
}

func (d *durations) observe(operation registry.Operation, took time.Duration, rejected bool) {
	i, j := slices.Index(operations[:], operation), 0
	if i < 0 {
		return
	}
	if rejected {
		j = 1
	}
	observer := d.bound[i][j].Load()
	if observer == nil {
		made := d.vec.WithLabelValues(append(slices.Clone(d.labels), string(operation), strconv.FormatBool(rejected))...)
		observer = &made
		d.bound[i][j].Store(observer)
	}
	(*observer).Observe(took.Seconds())
}
