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

// portsKey is where kube-apiserver keeps its account too.
const portsKey = "/ranges/servicenodeports"

var errPortTaken = errors.New("provided port is already allocated")

// accountCodec writes the account as kube-apiserver does.
func accountCodec() storage.Codec {
	return &kind.Codec{
		Kind: corev1.SchemeGroupVersion.WithKind("RangeAllocation"),
		New:  func() runtime.Object { return &corev1.RangeAllocation{} },
	}
}

// takePorts takes the node ports that a write needs, all in one step, and gives
// back what it no longer needs after the write.
func (tx *transaction) takePorts(ctx context.Context, c change) error {
	tx.releasePorts(c.release)
	if len(c.wishes) == 0 {
		return nil
	}
	var got []int
	err := tx.account(ctx, func(ctx context.Context, ports *portSet) error {
		var err error
		got, err = tx.grant(ctx, ports, c.wishes)
		return err
	})
	tx.onRollback(err, registry.Once(func(ctx context.Context) error { return tx.freePorts(ctx, got) }))
	if err != nil {
		tx.suspect(ctx)
		return asStatus(err)
	}
	for i, w := range c.wishes {
		for _, into := range w.into {
			*into = int32(got[i])
		}
	}
	return nil
}

func (tx *transaction) releasePorts(ports []int) {
	if len(ports) > 0 {
		tx.onCommit(registry.Once(func(ctx context.Context) error { return tx.freePorts(ctx, ports) }))
	}
}

// freePorts frees ports that the service has claimed. If that happens late, they
// may have been freed already and claimed for another service: those that a
// service has, or a request has just claimed for another one, stay taken.
func (tx *transaction) freePorts(ctx context.Context, ports []int) error {
	return tx.account(ctx, func(ctx context.Context, set *portSet) error {
		used, err := tx.usedPorts(ctx)
		for _, port := range ports {
			if err == nil && !used[port] {
				set.free(port, tx.service.UID)
			}
		}
		return err
	})
}

// grant fulfils all wishes, or says why it cannot.
func (tx *transaction) grant(ctx context.Context, ports *portSet, wishes []*wish) ([]int, error) {
	got := make([]int, len(wishes))
	for i, w := range wishes {
		port, err := tx.grantOne(ctx, ports, w.number)
		switch {
		case err == nil:
			got[i] = port
		case w.number != 0:
			return nil, tx.invalid(field.ErrorList{field.Invalid(w.at, w.number, err.Error())})
		default:
			return nil, apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
		}
	}
	return got, nil
}

func (tx *transaction) grantOne(ctx context.Context, ports *portSet, number int) (int, error) {
	if number != 0 && !ports.contains(number) {
		return 0, fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", tx.config.NodePorts.String())
	}
	for range 2 {
		port := number
		if port == 0 {
			port = ports.any()
		}
		if port != 0 && ports.take(port, tx.service.UID) {
			return port, nil
		}
		if err := tx.freeLost(ctx, ports, number); err != nil {
			return 0, err
		}
	}
	if number == 0 {
		return 0, errFull
	}
	return 0, errPortTaken
}

// account changes the account of the ports in one atomic step. An account that
// is not there, or of another range, is made of the services' ports.
func (tx *transaction) account(ctx context.Context, change func(context.Context, *portSet) error) error {
	_, err := tx.store.Storage(accountCodec()).GuaranteedUpdate(ctx, portsKey, func(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
		ports := newPortSet(tx.config.NodePorts, tx.config.Now())
		if err := tx.open(ctx, ports, current); err != nil {
			return storage.Proposal{}, err
		}
		if err := change(ctx, ports); err != nil {
			return storage.Proposal{}, err
		}
		return storage.Proposal{Object: ports.account(), Receipt: true}, nil
	}, storage.UpdateOptions{CreateIfAbsent: true, DryRun: tx.dry})
	return err
}

// asStatus returns what a client sees of an error of the account.
func asStatus(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return err
	}
	return apierrors.NewInternalError(fmt.Errorf("account of node ports: %w", err))
}

func (tx *transaction) open(ctx context.Context, ports *portSet, current *storage.Entry) error {
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
		ports.take(port, "")
	}
	return err
}

// usedPorts returns those of all services.
func (tx *transaction) usedPorts(ctx context.Context) (map[int]bool, error) {
	services, err := all[*corev1.Service](ctx, tx.store, corev1.Resource("services"), "")
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

// freeLost frees ports that no service has had for long: a certain one, or all if
// that is 0.
func (tx *transaction) freeLost(ctx context.Context, ports *portSet, number int) error {
	used, err := tx.usedPorts(ctx)
	for port := range ports.taken() {
		if err == nil && (number == 0 || number == port) && !used[port] && ports.isLost(port) {
			ports.free(port, "")
		}
	}
	return err
}

// suspect notes, after something could not be had, which taken ports no service
// has. Some of them are about to be given back: so they are not free at once, but
// when that must be through.
func (tx *transaction) suspect(ctx context.Context) {
	_ = tx.account(ctx, func(ctx context.Context, ports *portSet) error {
		used, err := tx.usedPorts(ctx)
		for port := range ports.taken() {
			if err == nil && !used[port] {
				ports.suspect(port)
			}
		}
		return err
	})
}
