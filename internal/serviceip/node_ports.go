package serviceip

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// portsKey is the key of the node port allocations, the same as in kube-apiserver.
const portsKey = "/ranges/servicenodeports"

var errPortAllocated = errors.New("provided port is already allocated")

// rangeAllocationCodec encodes the node port allocations as kube-apiserver does.
func rangeAllocationCodec() storage.Codec {
	return &kind.Codec{
		Kind: corev1.SchemeGroupVersion.WithKind("RangeAllocation"),
		New:  func() runtime.Object { return &corev1.RangeAllocation{} },
	}
}

// allocatePorts allocates the node ports of a write in one atomic step, and releases ports at the
// commit.
func (tx *transaction) allocatePorts(ctx context.Context, c portChange) error {
	tx.releasePorts(c.release)
	if len(c.requests) == 0 {
		return nil
	}
	var allocated []int
	err := tx.updatePorts(ctx, func(ctx context.Context, ports *portBitmap) error {
		var err error
		allocated, err = tx.allocateAll(ctx, ports, c.requests)
		return err
	})
	tx.onRollback(err, registry.Once(func(ctx context.Context) error { return tx.freePorts(ctx, allocated) }))
	if err != nil {
		tx.markOrphaned(ctx)
		return asStatus(err)
	}
	for i, r := range c.requests {
		for _, target := range r.targets {
			*target = int32(allocated[i])
		}
	}
	return nil
}

func (tx *transaction) releasePorts(ports []int) {
	if len(ports) > 0 {
		tx.onCommit(registry.Once(func(ctx context.Context) error { return tx.freePorts(ctx, ports) }))
	}
}

// freePorts frees ports of the service. By then they may have been freed and allocated again.
// Ports that a service uses, or that were recently allocated for another service, stay allocated.
func (tx *transaction) freePorts(ctx context.Context, ports []int) error {
	return tx.updatePorts(ctx, func(ctx context.Context, bitmap *portBitmap) error {
		used, err := tx.usedPorts(ctx)
		for _, port := range ports {
			if err == nil && !used[port] {
				bitmap.free(port, tx.service.UID)
			}
		}
		return err
	})
}

// allocateAll allocates the ports of all requests, or returns an error.
func (tx *transaction) allocateAll(ctx context.Context, ports *portBitmap, requests []*portRequest) ([]int, error) {
	allocated := make([]int, len(requests))
	for i, r := range requests {
		port, err := tx.allocatePort(ctx, ports, r.number)
		switch {
		case err == nil:
			allocated[i] = port
		case r.number != 0:
			return nil, tx.invalid(field.ErrorList{field.Invalid(r.path, r.number, err.Error())})
		default:
			return nil, apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
		}
	}
	return allocated, nil
}

// allocatePort allocates a port, any port if number is 0. It retries after freeing leaked ports.
func (tx *transaction) allocatePort(ctx context.Context, ports *portBitmap, number int) (int, error) {
	if number != 0 && !ports.contains(number) {
		return 0, fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", tx.config.NodePorts.String())
	}
	for range 2 {
		port := number
		if port == 0 {
			port = ports.next()
		}
		if port != 0 && ports.allocate(port, tx.service.UID) {
			return port, nil
		}
		if err := tx.freeLeaked(ctx, ports, number); err != nil {
			return 0, err
		}
	}
	if number == 0 {
		return 0, errFull
	}
	return 0, errPortAllocated
}

// updatePorts changes the port allocations in one atomic step. If there are none, or they have
// another range, they are rebuilt from the ports of all services.
func (tx *transaction) updatePorts(ctx context.Context, change func(context.Context, *portBitmap) error) error {
	_, err := tx.store.Catalog().Storage(rangeAllocationCodec()).GuaranteedUpdate(ctx, portsKey, func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		ports := newPortBitmap(tx.config.NodePorts, tx.config.Now())
		if err := tx.loadPorts(ctx, ports, current); err != nil {
			return storage.Proposal{}, err
		}
		if err := change(ctx, ports); err != nil {
			return storage.Proposal{}, err
		}
		return storage.Proposal{Object: ports.rangeAllocation(), Receipt: true}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true, DryRun: tx.dry})
	return err
}

// asStatus returns err if it is an API status, and otherwise an internal error.
func asStatus(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	return apierrors.NewInternalError(fmt.Errorf("node port allocation: %w", err))
}

func (tx *transaction) loadPorts(ctx context.Context, ports *portBitmap, current *storage.Entry) error {
	if current != nil {
		obj, err := current.Object()
		if err != nil {
			return err
		}
		if ports.restore(obj.(*corev1.RangeAllocation)) {
			return nil
		}
	}
	used, err := tx.usedPorts(ctx)
	for port := range used {
		ports.allocate(port, "")
	}
	return err
}

// usedPorts returns the node ports of all services.
func (tx *transaction) usedPorts(ctx context.Context) (map[int]bool, error) {
	services, err := listAll[*corev1.Service](ctx, tx.store.Catalog(), corev1.Resource("services"), "")
	if err != nil {
		return nil, err
	}
	used := map[int]bool{}
	for _, s := range services {
		for _, port := range portsOf(&s.Spec) {
			used[port] = true
		}
	}
	return used, nil
}

// freeLeaked frees a leaked port, or all leaked ports if number is 0.
func (tx *transaction) freeLeaked(ctx context.Context, ports *portBitmap, number int) error {
	used, err := tx.usedPorts(ctx)
	for port := range ports.allocated() {
		if err == nil && (number == 0 || number == port) && !used[port] && ports.isLeaked(port) {
			ports.free(port, "")
		}
	}
	return err
}

// markOrphaned records which allocated ports no service uses, after an allocation failed. Requests
// in flight may be about to release them. They count as leaked only after leakedAfter.
func (tx *transaction) markOrphaned(ctx context.Context) {
	_ = tx.updatePorts(ctx, func(ctx context.Context, ports *portBitmap) error {
		used, err := tx.usedPorts(ctx)
		for port := range ports.allocated() {
			if err == nil && !used[port] {
				ports.markOrphaned(port)
			}
		}
		return err
	})
}
