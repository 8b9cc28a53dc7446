package testapi

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/activity"
	"github.com/miniapi/miniapi/testapi/conflicts"
	"github.com/miniapi/miniapi/testapi/faults"
	"github.com/miniapi/miniapi/testapi/history"
	"github.com/miniapi/miniapi/testapi/journal"
	"github.com/miniapi/miniapi/testapi/snapshots"
	"github.com/miniapi/miniapi/testapi/writes"
)

// Config configures the test APIs. All fields are required.
type Config struct {
	// OpenWatches returns the open watches of the server.
	OpenWatches func() []lifecycle.OpenWatch
	// Server returns the state of the server.
	Server func(ctx context.Context) (*activity.Server, error)
	// Faults are the faults of the server.
	Faults *faults.Set
	// Snapshots takes and restores snapshots.
	Snapshots snapshots.Config
}

// TestAPIs are the test APIs of one server.
type TestAPIs struct {
	config    Config
	started   time.Time
	journal   *journal.Journal
	conflicts *conflicts.Log
	requests  *activity.Statistics
	snapshots *snapshots.Set
}

// New returns the test APIs of a server. It starts nothing.
func New(config Config) *TestAPIs {
	log := conflicts.NewLog()
	return &TestAPIs{
		config: config, started: time.Now(),
		journal: journal.New(journal.Config{Observe: log.Observe}), conflicts: log, requests: activity.NewStatistics(),
		snapshots: snapshots.NewSet(config.Snapshots),
	}
}

// Attach adds the test APIs to the configuration of a catalog.
func (t *TestAPIs) Attach(config *registry.CatalogConfig) {
	wrap := config.Wrap
	config.Wrap = func(s storage.Interface, resource schema.GroupResource) storage.Interface {
		if wrap != nil {
			s = wrap(s, resource)
		}
		return t.journal.Wrap(s, resource)
	}
	config.Conflicts = conflicts.NewExplainer(t.journal, t.conflicts)
}

// Resources returns the resources of the group miniapi.dev.
func (t *TestAPIs) Resources() []*registry.Resource {
	return []*registry.Resource{
		conflicts.Resource(t.conflicts),
		activity.Watches(t.config.OpenWatches),
		activity.Requests(t.requests),
		activity.Servers(t.started, t.config.Server),
		faults.Resource(t.config.Faults),
		snapshots.Resource(t.snapshots),
	}
}

// ObserveRequest counts a request. It is a requestlog.Config.Observe.
func (t *TestAPIs) ObserveRequest(record *request.Record) { t.requests.Observe(record) }

// History returns the history of the object that a request names.
func (t *TestAPIs) History(ctx context.Context, store registry.Interface, object registry.ObjectName) (runtime.Object, error) {
	read, err := history.NewReader(t.journal).Read(ctx, store, object)
	if err != nil {
		return nil, err
	}
	return read.Object()
}

// Blame returns the write of each field of the object that a request names.
func (t *TestAPIs) Blame(ctx context.Context, store registry.Interface, object registry.ObjectName) (runtime.Object, error) {
	read, err := history.NewReader(t.journal).ReadBlame(ctx, store, object)
	if err != nil {
		return nil, err
	}
	return read.Object()
}

// Writes returns the committed writes that a filter selects, in the order of revisions. A nil
// TestAPIs has none.
func (t *TestAPIs) Writes(ctx context.Context, catalog *registry.Snapshot, filter writes.Filter) ([]writes.Write, error) {
	if t == nil {
		return nil, nil
	}
	return writes.NewReader(t.journal).List(ctx, catalog, filter)
}

// WriteOf returns the write of a key at a revision, nil if it is not known or t is nil.
func (t *TestAPIs) WriteOf(ctx context.Context, key string, revision int64) *journal.Write {
	if t == nil {
		return nil
	}
	t.journal.Await(ctx, key, revision)
	for _, w := range t.journal.Writes(key) {
		if w.Revision == revision {
			return w
		}
	}
	return nil
}

// LastWrite returns the last write of the server, nil if there is none or t is nil.
func (t *TestAPIs) LastWrite() *journal.Write {
	if t == nil {
		return nil
	}
	return t.journal.Last()
}

// Conflicts returns the last conflicts, the oldest first. A nil TestAPIs has none.
func (t *TestAPIs) Conflicts() []conflicts.Conflict {
	if t == nil {
		return nil
	}
	return t.conflicts.List()
}
