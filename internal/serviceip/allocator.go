package serviceip

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/registry"
)

// leakedAfter is how long something may be claimed that no service has: longer
// than a request, which may be about to write the service.
const leakedAfter = 2 * time.Minute

// Config is what there is to hand out.
type Config struct {
	// ServiceRanges of the services' addresses, one or two of different families,
	// the primary one first. Beside them there are those of ServiceCIDR objects.
	ServiceRanges []netip.Prefix
	// NodePorts of services that are reached through every node.
	NodePorts utilnet.PortRange
	// Now tells the time. Nil: time.Now.
	Now func() time.Time
}

// Allocator allocates for one server. It has no state, and is safe for concurrent
// use.
type Allocator struct {
	config Config
}

// New returns an allocator.
func New(config Config) *Allocator {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Allocator{config: config}
}

// Hooks are those of the resource "services".
func (a *Allocator) Hooks() registry.Hooks {
	return registry.Hooks{BeginCreate: a.beginCreate, BeginUpdate: a.beginUpdate, BeginDelete: a.beginDelete}
}

func (a *Allocator) beginCreate(ctx context.Context, store *registry.Store, obj runtime.Object, opts registry.WriteOptions) (registry.Transaction, error) {
	tx := a.begin(store, obj, opts)
	core.LinkServiceFields(tx.service, nil)
	if validate := store.Resource().Strategy.Create.ValidateName; len(validate(tx.service.Name, false)) > 0 {
		return registry.Transaction{}, nil // it is about to be refused, and no address could name it as its holder
	}
	err := tx.settleFamilies(nil)
	if err == nil {
		err = tx.takeAddresses(ctx, 0)
	}
	if err == nil {
		err = tx.takePorts(ctx, newPorts(tx.service))
	}
	return tx.result(), err
}

func (a *Allocator) beginUpdate(ctx context.Context, store *registry.Store, obj, old runtime.Object, opts registry.WriteOptions) (registry.Transaction, error) {
	tx, was := a.begin(store, obj, opts), old.(*corev1.Service)
	core.LinkServiceFields(tx.service, was)
	err := tx.settleFamilies(was)
	if err == nil {
		err = tx.changeAddresses(ctx, was)
	}
	if err == nil {
		err = tx.takePorts(ctx, changedPorts(tx.service, was))
	}
	return tx.result(), err
}

// beginDelete releases everything after the deletion, and removes the endpoints,
// so that a service of the same name does not begin with those of this one.
func (a *Allocator) beginDelete(_ context.Context, store *registry.Store, old runtime.Object) registry.Transaction {
	tx := a.begin(store, old, registry.WriteOptions{})
	tx.releaseAddresses(tx.service.Spec.ClusterIPs, tx.service.ResourceVersion)
	tx.releasePorts(portsOf(&tx.service.Spec))
	tx.onCommit(tx.removeEndpoints)
	return tx.result()
}

func (tx *transaction) removeEndpoints(ctx context.Context) error {
	endpoints, ok := tx.store.Sibling(corev1.Resource("endpoints"))
	if !ok {
		return nil
	}
	if _, err := tx.store.Get(ctx, tx.service.Namespace, tx.service.Name, ""); err == nil {
		return nil // they may be those of another service of that name already
	}
	_, _ = endpoints.Delete(ctx, registry.DeleteRequest{Namespace: tx.service.Namespace, Name: tx.service.Name})
	return nil
}
