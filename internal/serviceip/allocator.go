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

// leakedAfter is the time after which a claim without a service has leaked. It is longer than any
// request that may still store the service.
const leakedAfter = 2 * time.Minute

// Config configures an Allocator.
type Config struct {
	// ServiceRanges are the ranges of cluster IPs: one or two of different families, the primary
	// family first. ServiceCIDR objects add to them.
	ServiceRanges []netip.Prefix
	// NodePorts is the range of node ports.
	NodePorts utilnet.PortRange
	// Now returns the current time. Nil: time.Now.
	Now func() time.Time
}

// Allocator allocates cluster IPs and node ports. It has no state and is safe for concurrent use.
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

// Hooks returns the hooks of the resource "services".
func (a *Allocator) Hooks() registry.Hooks {
	return registry.Hooks{BeginCreate: a.beginCreate, BeginUpdate: a.beginUpdate, BeginDelete: a.beginDelete}
}

func (a *Allocator) beginCreate(ctx context.Context, store *registry.Store, obj runtime.Object, opts registry.WriteOptions) (registry.Transaction, error) {
	tx := a.begin(store, obj, opts)
	core.LinkServiceFields(tx.service, nil)
	if validate := store.Resource().Strategy.Create.ValidateName; len(validate(tx.service.Name, false)) > 0 {
		// The service will be rejected, and an IPAddress cannot refer to an invalid name.
		return registry.Transaction{}, nil
	}
	err := tx.initIPFamilies(nil)
	if err == nil {
		err = tx.allocateClusterIPs(ctx, 0)
	}
	if err == nil {
		err = tx.allocatePorts(ctx, newPorts(tx.service))
	}
	return tx.result(), err
}

func (a *Allocator) beginUpdate(ctx context.Context, store *registry.Store, obj, old runtime.Object, opts registry.WriteOptions) (registry.Transaction, error) {
	tx, oldService := a.begin(store, obj, opts), old.(*corev1.Service)
	core.LinkServiceFields(tx.service, oldService)
	err := tx.initIPFamilies(oldService)
	if err == nil {
		err = tx.updateClusterIPs(ctx, oldService)
	}
	if err == nil {
		err = tx.allocatePorts(ctx, changedPorts(tx.service, oldService))
	}
	return tx.result(), err
}

// beginDelete releases all addresses and ports after the deletion. It also deletes the endpoints,
// so that a new service with the same name does not start with them.
func (a *Allocator) beginDelete(_ context.Context, store *registry.Store, old runtime.Object) registry.Transaction {
	tx := a.begin(store, old, registry.WriteOptions{})
	tx.releaseAddresses(tx.service.Spec.ClusterIPs, tx.service.ResourceVersion)
	tx.releasePorts(portsOf(&tx.service.Spec))
	tx.onCommit(tx.removeEndpoints)
	return tx.result()
}

func (tx *transaction) removeEndpoints(ctx context.Context) error {
	endpoints, ok := tx.store.Catalog().Store(corev1.Resource("endpoints"))
	if !ok {
		return nil
	}
	if _, err := tx.store.Get(ctx, tx.service.Namespace, tx.service.Name, ""); err == nil {
		return nil // the endpoints may belong to a new service with the same name
	}
	_, _ = endpoints.Delete(ctx, registry.DeleteRequest{Namespace: tx.service.Namespace, Name: tx.service.Name})
	return nil
}
