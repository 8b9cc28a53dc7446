package aggregator

import (
	"context"
	"errors"
	"path"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// follow returns why it cannot go on. What is known stays.
func (a *Aggregator) follow(ctx context.Context, servers *sync.WaitGroup) error {
	store, err := a.store(apiregistrationv1.Resource("apiservices"))
	if err != nil {
		return err
	}
	watcher, err := store.Watch(ctx, registry.ListRequest{SendInitialEvents: new(true), AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	f := follower{Aggregator: a, store: store, servers: servers, initial: map[string]bool{}}
	for event := range watcher.Events() {
		if err := f.take(ctx, event); err != nil {
			return err
		}
	}
	return errors.New("the watch has ended")
}

// follower is one watch of the APIServices.
type follower struct {
	*Aggregator
	store   *registry.Store
	servers *sync.WaitGroup
	// initial are the names that were there at the beginning; nil afterwards.
	initial map[string]bool
}

func (f *follower) take(ctx context.Context, event storage.Event) error {
	switch {
	case event.Type == watch.Error:
		return event.Err
	case event.Type == watch.Bookmark && event.InitialEventsEnd:
		f.forgetAbsent()
		return nil
	case event.Type == watch.Bookmark:
		return nil
	}
	name := path.Base(event.Entry.Key)
	if event.Type == watch.Deleted {
		f.forget(name)
		return nil
	}
	if f.initial != nil {
		f.initial[name] = true
	}
	service, err := registry.As[*apiregistrationv1.APIService](event.Entry)
	if err != nil {
		f.config.Logger.ErrorContext(ctx, "aggregator: an APIService cannot be read", "name", name, "error", err)
		// Nothing is served for it, and nobody need wait for it.
		f.note(name, &known{revision: event.Revision})
		return nil
	}
	f.reconcile(ctx, service, event.Revision)
	return nil
}

// forgetAbsent forgets what went while nobody watched.
func (f *follower) forgetAbsent() {
	var gone []string
	f.mu.Lock()
	for name := range f.known {
		if !f.initial[name] {
			gone = append(gone, name)
		}
	}
	f.mu.Unlock()
	f.initial = nil
	for _, name := range gone {
		f.forget(name)
	}
}

func (f *follower) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[name]
	delete(f.known, name)
	if k != nil && k.server != nil {
		k.server.stop()
		f.publish()
	}
	f.wake()
}

// wake tells those who wait. It is called with mu held.
func (f *follower) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// reconcile does what an APIService asks for.
func (f *follower) reconcile(ctx context.Context, service *apiregistrationv1.APIService, revision int64) {
	f.mu.Lock()
	before := f.known[service.Name]
	f.mu.Unlock()
	if before == nil {
		before = &known{}
	}
	next := &known{revision: revision}
	switch {
	case service.Spec.Service == nil:
		f.markLocal(ctx, service)
	case before.server != nil && before.server.isOf(service):
		next.server = before.server
		next.server.see(ctx, service)
	default:
		next.server = newServer(f.Aggregator, service)
		next.server.begin(ctx, f.servers)
	}
	f.note(service.Name, next)
}

// note puts what is known now in the place of what was, whose server ends if it
// is another one.
func (f *follower) note(name string, next *known) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.known[name]
	if before == nil {
		before = &known{}
	}
	f.known[name] = next
	if before.server != next.server {
		if before.server != nil {
			before.server.stop()
		}
		f.publish()
	}
	f.wake()
}

// markLocal says that what this server serves itself is available.
func (f *follower) markLocal(ctx context.Context, service *apiregistrationv1.APIService) {
	if helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available) {
		return
	}
	f.writeCondition(ctx, service, helper.NewLocalAvailableAPIServiceCondition())
}

// publish tells the catalog what other servers serve. It is called with mu held.
func (a *Aggregator) publish() {
	var remotes []*registry.Remote
	for _, k := range a.known {
		if k.server != nil {
			remotes = append(remotes, k.server.describe())
		}
	}
	a.config.Catalog.SetRemotes(remotes)
}
