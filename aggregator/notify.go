package aggregator

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// notify says when something that a request selects is there, or has changed,
// until ctx ends. Nobody is told twice of what has not been looked at.
func (a *Aggregator) notify(ctx context.Context, resource schema.GroupResource, req registry.ListRequest, changed chan<- struct{}) {
	for ctx.Err() == nil {
		if watcher, err := a.watch(ctx, resource, req); err == nil {
			for range watcher.Events() {
				select {
				case changed <- struct{}{}:
				default:
				}
			}
			watcher.Stop()
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (a *Aggregator) watch(ctx context.Context, resource schema.GroupResource, req registry.ListRequest) (storage.Watcher, error) {
	store, err := a.store(resource)
	if err != nil {
		return nil, err
	}
	return store.Watch(ctx, req)
}
