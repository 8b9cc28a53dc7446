package encryption

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/miniapi/miniapi/internal/collectors"
)

const (
	toStorage   = "to_storage"
	fromStorage = "from_storage"
)

// metrics has the metrics of an Encryption, under the names of kube-apiserver.
type metrics struct {
	collectors.All
	operations *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	reloads    *collectors.Reloads
}

func newMetrics() *metrics {
	m := &metrics{
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_storage_transformation_operations_total",
			Help: "Encryptions and decryptions of stored values, by resource, prefix and result.",
		}, []string{"resource", "transformation_type", "transformer_prefix", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_storage_transformation_duration_seconds",
			Help:    "Seconds a successful encryption or decryption of a stored value took.",
			Buckets: prometheus.ExponentialBuckets(5e-6, 2, 25),
		}, []string{"transformation_type", "transformer_prefix"}),
		reloads: collectors.NewReloads("encryption"),
	}
	m.All = collectors.All{m.operations, m.durations}
	return m
}

// Collector returns the metrics.
func (e *Encryption) Collector() prometheus.Collector { return e.metrics }

// Reloads returns the metrics of the reloads of the file.
func (e *Encryption) Reloads() prometheus.Collector { return e.metrics.reloads }

// operation is an encryption or decryption.
type operation struct {
	direction string
	target
	prefix string
}

// record records an operation that began at a time.
func (m *metrics) record(o operation, began time.Time, err error) {
	prefix := o.prefix
	if prefix == "" && o.direction == fromStorage { // as kube-apiserver
		prefix = "identity"
	}
	m.operations.WithLabelValues(o.resource, o.direction, prefix, statusOf(err)).Inc()
	if err == nil {
		m.durations.WithLabelValues(o.direction, prefix).Observe(time.Since(began).Seconds())
	}
}

// statusOf returns the code of an error of a KMS plugin, as kube-apiserver.
func statusOf(err error) string {
	var grpcError interface{ GRPCStatus() *status.Status }
	switch {
	case err == nil:
		return codes.OK.String()
	case errors.As(err, &grpcError):
		return grpcError.GRPCStatus().Code().String()
	default:
		return "unknown-non-grpc"
	}
}
