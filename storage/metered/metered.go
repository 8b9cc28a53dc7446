// Package metered wraps a storage.Interface to record the number and the duration of its
// operations, in metrics with the names that kube-apiserver uses, and to trace them.
package metered

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/tracing"
	"github.com/miniapi/miniapi/storage"
)

// Recorder has the metrics of all stores of a server. It is a prometheus.Collector and safe for
// concurrent use.
type Recorder struct {
	durations *prometheus.HistogramVec
	requests  *prometheus.CounterVec
	errors    *prometheus.CounterVec
}

// NewRecorder returns a recorder. The caller registers it.
func NewRecorder() *Recorder {
	labels := []string{"operation", "group", "resource"}
	return &Recorder{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "etcd_request_duration_seconds",
			Help:    "Seconds an operation of the storage took, by operation and resource.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60},
		}, labels),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "etcd_requests_total",
			Help: "Operations of the storage, by operation and resource.",
		}, labels),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "etcd_request_errors_total",
			Help: "Operations of the storage that failed, by operation and resource.",
		}, labels),
	}
}

// Describe implements prometheus.Collector.
func (r *Recorder) Describe(out chan<- *prometheus.Desc) {
	r.durations.Describe(out)
	r.requests.Describe(out)
	r.errors.Describe(out)
}

// Collect implements prometheus.Collector.
func (r *Recorder) Collect(out chan<- prometheus.Metric) {
	r.durations.Collect(out)
	r.requests.Collect(out)
	r.errors.Collect(out)
}

// Wrap returns a store that records the operations of s under a resource. It does not record Watch,
// because the client decides how long a watch takes, nor Count, which only serves metrics.
func (r *Recorder) Wrap(s storage.Interface, resource schema.GroupResource) storage.Interface {
	return &meteredStore{Interface: s, recorder: r, resource: resource}
}

type meteredStore struct {
	storage.Interface
	recorder *Recorder
	resource schema.GroupResource
}

// begin begins the span of an operation. The result records the operation; operations defer it.
func (s *meteredStore) begin(ctx context.Context, operation string) (context.Context, func(err *error)) {
	began := time.Now()
	ctx, end := tracing.Start(ctx, "storage "+operation, tracing.Resource(s.resource.String()))
	return ctx, func(err *error) {
		s.record(operation, began, err)
		end(err)
	}
}

func (s *meteredStore) record(operation string, began time.Time, err *error) {
	labels := []string{operation, s.resource.Group, s.resource.Resource}
	s.recorder.durations.WithLabelValues(labels...).Observe(time.Since(began).Seconds())
	s.recorder.requests.WithLabelValues(labels...).Inc()
	if *err != nil {
		s.recorder.errors.WithLabelValues(labels...).Inc()
	}
}

// Create implements storage.Interface.
func (s *meteredStore) Create(ctx context.Context, key string, obj runtime.Object, opts storage.CreateOptions) (_ *storage.Entry, err error) {
	ctx, end := s.begin(ctx, "create")
	defer end(&err)
	return s.Interface.Create(ctx, key, obj, opts)
}

// Get implements storage.Interface.
func (s *meteredStore) Get(ctx context.Context, key string, opts storage.GetOptions) (_ *storage.Entry, err error) {
	ctx, end := s.begin(ctx, "get")
	defer end(&err)
	return s.Interface.Get(ctx, key, opts)
}

// GetList implements storage.Interface.
func (s *meteredStore) GetList(ctx context.Context, key string, opts storage.ListOptions) (_ *storage.Page, err error) {
	ctx, end := s.begin(ctx, "list")
	defer end(&err)
	return s.Interface.GetList(ctx, key, opts)
}

// GuaranteedUpdate implements storage.Interface.
func (s *meteredStore) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (_ *storage.UpdateResult, err error) {
	ctx, end := s.begin(ctx, "update")
	defer end(&err)
	return s.Interface.GuaranteedUpdate(ctx, key, propose, opts)
}

// Delete implements storage.Interface.
func (s *meteredStore) Delete(ctx context.Context, key string, opts storage.DeleteOptions) (_ *storage.Entry, err error) {
	ctx, end := s.begin(ctx, "delete")
	defer end(&err)
	return s.Interface.Delete(ctx, key, opts)
}
