package allocation

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

// leakedAfter is how long something may be taken that no service has: longer
// than a request, which may be about to write the service.
const leakedAfter = 2 * time.Minute

// releaseTimeout bounds what is given back after a write: nobody waits longer
// for it, and what is lost is found again.
const releaseTimeout = 10 * time.Second

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

// Allocator hands out for one server. It remembers nothing, and is safe for
// concurrent use.
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
	return registry.Hooks{BeginCreate: a.beginCreate, BeginUpdate: a.beginUpdate, AfterDelete: a.afterDelete}
}

type finishFunc = func(ctx context.Context, written bool)

func (a *Allocator) beginCreate(ctx context.Context, store *registry.Store, obj runtime.Object, opts registry.WriteOptions) (finishFunc, error) {
	d := a.deal(store, obj, opts)
	core.LinkServiceFields(d.service, nil)
	if validate := store.Resource().Strategy.Create.ValidateName; len(validate(d.service.Name, false)) > 0 {
		return nil, nil // it is about to be refused, and no address could name it as its holder
	}
	return d.settle(ctx, func() error {
		if err := d.settleFamilies(nil); err != nil {
			return err
		}
		if err := d.takeAddresses(ctx, 0); err != nil {
			return err
		}
		return d.takePorts(ctx, newPorts(d.service))
	})
}

func (a *Allocator) beginUpdate(ctx context.Context, store *registry.Store, obj, old runtime.Object, opts registry.WriteOptions) (finishFunc, error) {
	d, was := a.deal(store, obj, opts), old.(*corev1.Service)
	core.LinkServiceFields(d.service, was)
	return d.settle(ctx, func() error {
		if err := d.settleFamilies(was); err != nil {
			return err
		}
		if err := d.changeAddresses(ctx, was); err != nil {
			return err
		}
		return d.takePorts(ctx, changedPorts(d.service, was))
	})
}

// afterDelete gives everything back, and removes the endpoints, so that a service
// of the same name does not begin with those of this one.
func (a *Allocator) afterDelete(ctx context.Context, store *registry.Store, obj runtime.Object) {
	d := a.deal(store, obj, registry.WriteOptions{})
	d.releaseAddresses(d.service.Spec.ClusterIPs, d.service.ResourceVersion)
	d.releasePorts(portsOf(&d.service.Spec))
	d.after = append(d.after, func(ctx context.Context) {
		if endpoints, ok := store.Sibling(corev1.Resource("endpoints")); ok {
			_, _ = endpoints.Delete(ctx, registry.DeleteRequest{Namespace: d.service.Namespace, Name: d.service.Name})
		}
	})
	d.finish(ctx, true)
}

// deal is what one write of a service takes and gives back.
type deal struct {
	*Allocator
	store   *registry.Store // of the services
	service *corev1.Service
	dry     bool
	// undo is done if the write does not happen, after if it does.
	undo, after []func(context.Context)
}

func (a *Allocator) deal(store *registry.Store, obj runtime.Object, opts registry.WriteOptions) *deal {
	return &deal{Allocator: a, store: store, service: obj.(*corev1.Service), dry: opts.DryRun}
}

// settle takes what is needed, or gives back what it took before it failed.
func (d *deal) settle(ctx context.Context, take func() error) (finishFunc, error) {
	if err := take(); err != nil {
		d.finish(context.WithoutCancel(ctx), false)
		return nil, err
	}
	return d.finish, nil
}

func (d *deal) finish(ctx context.Context, written bool) {
	steps := d.undo
	if written {
		steps = d.after
	}
	if d.dry || len(steps) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	for _, step := range steps {
		step(ctx)
	}
}
