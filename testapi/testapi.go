package testapi

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/testapi/conflicts"
	"github.com/miniapi/miniapi/testapi/history"
	"github.com/miniapi/miniapi/testapi/journal"
)

// TestAPIs are the test APIs of one server.
type TestAPIs struct {
	journal   *journal.Journal
	conflicts *conflicts.Log
}

// New returns the test APIs of a server. It starts nothing.
func New() *TestAPIs {
	log := conflicts.NewLog()
	return &TestAPIs{journal: journal.New(journal.Config{Observe: log.Observe}), conflicts: log}
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
	return []*registry.Resource{conflicts.Resource(t.conflicts)}
}

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

// Conflicts returns the last conflicts, the oldest first. A nil TestAPIs has none.
func (t *TestAPIs) Conflicts() []conflicts.Conflict {
	if t == nil {
		return nil
	}
	return t.conflicts.List()
}
