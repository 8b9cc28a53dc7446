package aggregator

import (
	"context"
	"path"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
)

// handle reconciles an APIService after a change of it.
func (a *Aggregator) handle(ctx context.Context, change informer.Change) {
	name := path.Base(change.Key)
	if change.New == nil {
		a.setServer(name, nil)
		return
	}
	service, err := registry.As[*apiregistrationv1.APIService](change.New)
	if err != nil {
		a.config.Logger.ErrorContext(ctx, "aggregator: an APIService cannot be decoded", "name", name, "error", err)
		a.setServer(name, nil)
		return
	}
	a.reconcile(ctx, service)
}

func (a *Aggregator) reconcile(ctx context.Context, service *apiregistrationv1.APIService) {
	a.mu.Lock()
	current := a.servers[service.Name]
	a.mu.Unlock()
	switch {
	case service.Spec.Service == nil:
		a.markLocal(ctx, service)
		a.setServer(service.Name, nil)
	case current != nil && current.isOf(service):
		current.observeStatus(ctx, service)
	default:
		next := newServer(a, service)
		next.start(ctx)
		a.setServer(service.Name, next)
	}
}

// setServer replaces the server of an APIService and stops the old one. Nil removes it.
func (a *Aggregator) setServer(name string, next *server) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.servers[name]
	if old == next {
		return
	}
	if old != nil {
		old.stop()
	}
	if next != nil {
		a.servers[name] = next
	} else {
		delete(a.servers, name)
	}
	a.publish()
}

// markLocal sets the condition Available of a group version that this server serves.
func (a *Aggregator) markLocal(ctx context.Context, service *apiregistrationv1.APIService) {
	if helper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available) {
		return
	}
	a.writeCondition(ctx, service, helper.NewLocalAvailableAPIServiceCondition())
}

// publish updates the remote group versions of the catalog. It is called with mu held.
func (a *Aggregator) publish() {
	var remotes []*registry.Remote
	for _, server := range a.servers {
		remotes = append(remotes, server.describe())
	}
	a.config.Catalog.SetRemotes(remotes)
}
