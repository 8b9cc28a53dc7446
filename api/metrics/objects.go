package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/registry"
)

// countTimeout bounds the time that a scrape spends on counting objects.
const countTimeout = 5 * time.Second

var objectsDesc = prometheus.NewDesc("apiserver_storage_objects",
	"Objects in storage, by resource. A resource that could not be counted is left out.", []string{"resource"}, nil)

// objectCounter counts the objects of every resource on each scrape. etcd counts keys without
// reading their values.
type objectCounter struct {
	catalog *registry.Catalog
}

// Describe implements prometheus.Collector.
func (o objectCounter) Describe(out chan<- *prometheus.Desc) { out <- objectsDesc }

// Collect implements prometheus.Collector.
func (o objectCounter) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	for _, store := range o.catalog.Snapshot().Stores() {
		count, err := store.Count(ctx)
		if err != nil {
			continue
		}
		name := store.Resource().GroupResource().String()
		out <- prometheus.MustNewConstMetric(objectsDesc, prometheus.GaugeValue, float64(count), name)
	}
}
