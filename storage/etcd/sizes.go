package etcd

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// sizesTimeout is the time limit for reading the sizes of all members.
const sizesTimeout = time.Second

// Sizes collects the database sizes of the members of etcd. It is a prometheus.Collector and safe
// for concurrent use.
type Sizes struct {
	client                       *clientv3.Client
	size, inUse, quota, revision *prometheus.Desc
}

// NewSizes returns a collector for the etcd of a client.
func NewSizes(client *clientv3.Client) *Sizes {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"storage_cluster_id"}, nil)
	}
	return &Sizes{
		client: client,
		size:   describe("apiserver_storage_size_bytes", "Bytes of the file of the storage database."),
		inUse:  describe("miniapi_storage_in_use_bytes", "Bytes of the storage database that hold data."),
		quota:  describe("miniapi_storage_quota_bytes", "Bytes that the storage database may have."),

		revision: describe("miniapi_storage_revision", "The latest revision of the storage; without miniapi_watch_cache_resource_version it is the lag of the watch cache."),
	}
}

// Describe implements prometheus.Collector.
func (s *Sizes) Describe(out chan<- *prometheus.Desc) {
	out <- s.size
	out <- s.inUse
	out <- s.quota
	out <- s.revision
}

// Collect implements prometheus.Collector. It omits members that do not answer.
func (s *Sizes) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), sizesTimeout)
	defer cancel()
	readStatuses(ctx, s.client, func(member int, status *clientv3.StatusResponse) bool {
		id := fmt.Sprintf("etcd-%d", member)
		emit := func(desc *prometheus.Desc, value int64) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), id)
		}
		emit(s.size, status.DbSize)
		emit(s.inUse, status.DbSizeInUse)
		emit(s.revision, status.Header.Revision)
		if status.DbSizeQuota > 0 { // etcd before 3.6 does not return it
			emit(s.quota, status.DbSizeQuota)
		}
		return false
	})
}
