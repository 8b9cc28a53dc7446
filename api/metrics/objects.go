package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/miniapi/miniapi/registry"
)

// countTimeout bounds the time that a scrape spends on counting objects, for example while etcd
// does not answer.
const countTimeout = time.Second

// parallelCounts is the number of resources that are counted at the same time.
const parallelCounts = 8

var (
	objectsDesc = prometheus.NewDesc("apiserver_resource_objects",
		"Objects in storage, by resource. A resource that could not be counted is left out.", []string{"group", "resource"}, nil)
	storageObjectsDesc = prometheus.NewDesc("apiserver_storage_objects",
		"The same as apiserver_resource_objects, as in releases before 1.34.", []string{"resource"}, nil)
)

// objectCounter counts the objects of every resource on each scrape. etcd counts keys without
// reading their values.
type objectCounter struct {
	catalog *registry.Catalog
}

// Describe implements prometheus.Collector.
func (o objectCounter) Describe(out chan<- *prometheus.Desc) {
	out <- objectsDesc
	out <- storageObjectsDesc
}

// Collect implements prometheus.Collector. The first error ends it: etcd does not answer.
func (o objectCounter) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	counts, ctx := errgroup.WithContext(ctx) // owned by this call
	counts.SetLimit(parallelCounts)
	for _, store := range o.catalog.Snapshot().Stores() {
		counts.Go(func() error {
			count, err := store.Count(ctx)
			if err != nil {
				return err
			}
			resource := store.Resource().GroupResource()
			out <- prometheus.MustNewConstMetric(objectsDesc, prometheus.GaugeValue, float64(count), resource.Group, resource.Resource)
			out <- prometheus.MustNewConstMetric(storageObjectsDesc, prometheus.GaugeValue, float64(count), resource.String())
			return nil
		})
	}
	_ = counts.Wait() // the resources without a count are left out
}
