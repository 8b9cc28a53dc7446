package serviceip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/registry"
)

var (
	errFull       = errors.New("range is full")
	errAllocated  = errors.New("provided IP is already allocated")
	errNotInRange = errors.New("the provided network does not match the current range")
)

// allocateClusterIPs allocates an address of each IP family of the service, starting at an index
// of spec.ipFamilies.
func (tx *transaction) allocateClusterIPs(ctx context.Context, from int) error {
	spec := &tx.service.Spec
	if !hasClusterIPs(tx.service) {
		return nil
	}
	for i := from; i < len(spec.IPFamilies); i++ {
		if i >= len(spec.ClusterIPs) {
			spec.ClusterIPs = append(slices.Clip(spec.ClusterIPs), "")
		}
		address, err := tx.allocateClusterIP(ctx, spec.IPFamilies[i], spec.ClusterIPs[i])
		if err != nil {
			return err
		}
		spec.ClusterIPs[i] = address
	}
	if len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
	return nil
}

// hasClusterIPs reports whether the service has cluster IPs according to its type.
func hasClusterIPs(s *corev1.Service) bool {
	return s.Spec.Type != corev1.ServiceTypeExternalName && !core.IsHeadless(s)
}

// updateClusterIPs allocates the addresses that an update requires, and releases those that the
// service no longer has.
func (tx *transaction) updateClusterIPs(ctx context.Context, old *corev1.Service) error {
	spec, oldSpec := &tx.service.Spec, &old.Spec
	switch {
	case core.IsHeadless(old) || keepsDualStack(tx.service, old):
	case len(oldSpec.ClusterIPs) == 0:
		// The type changed, or the service was stored without allocation.
		return tx.allocateClusterIPs(ctx, 0)
	case spec.Type == corev1.ServiceTypeExternalName:
		tx.releaseAddresses(oldSpec.ClusterIPs, old.ResourceVersion)
	case len(oldSpec.IPFamilies) == 1 && len(spec.IPFamilies) == 2:
		return tx.allocateClusterIPs(ctx, 1)
	case len(oldSpec.IPFamilies) == 2 && len(spec.IPFamilies) == 1:
		tx.releaseAddresses(oldSpec.ClusterIPs[1:], old.ResourceVersion)
	}
	return nil
}

// allocateClusterIP allocates the requested address, or any address if requested is "".
func (tx *transaction) allocateClusterIP(ctx context.Context, family corev1.IPFamily, requested string) (string, error) {
	ranges, err := tx.ranges(ctx, family)
	if err != nil {
		return "", err
	}
	if requested == "" {
		address, err := tx.allocateNext(ctx, ranges)
		if errors.Is(err, errFull) {
			return "", apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", tx.service.Name, err))
		}
		return address, err
	}
	address, err := netip.ParseAddr(requested) // validated before
	if err == nil {
		err = tx.allocateAddress(ctx, ranges, address)
	}
	if errors.Is(err, errAllocated) || errors.Is(err, errNotInRange) {
		at := field.NewPath("spec", "clusterIPs")
		return "", tx.invalid(field.ErrorList{field.Invalid(at, tx.service.Spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: %v", requested, err))})
	}
	return requested, err
}

// allocateAddress allocates a given address. It reclaims the address if its claim has leaked.
func (tx *transaction) allocateAddress(ctx context.Context, ranges []addressRange, address netip.Addr) error {
	if !slices.ContainsFunc(ranges, func(r addressRange) bool { return r.contains(address) }) {
		return errNotInRange
	}
	used, err := tx.usedByOther(ctx, address, "")
	if err != nil {
		return err
	}
	if used {
		return errAllocated
	}
	err = tx.claim(ctx, address)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if free, err := tx.reclaim(ctx, address); err != nil || !free {
		return errors.Join(err, errAllocated)
	}
	if err = tx.claim(ctx, address); apierrors.IsAlreadyExists(err) {
		return errAllocated
	}
	return err
}

// allocateNext tries the addresses that are free according to the watch cache, and then those
// whose claims may have leaked.
func (tx *transaction) allocateNext(ctx context.Context, ranges []addressRange) (string, error) {
	claims, err := registry.Require(tx.store.Catalog(), networkingv1.Resource("ipaddresses"))
	if err != nil {
		return "", err
	}
	for _, r := range ranges {
		for address := range r.candidates() {
			_, err := claims.Get(ctx, "", address.String(), "0")
			if err == nil {
				continue
			}
			used, err := tx.usedByOther(ctx, address, "0")
			if err != nil {
				return "", err
			}
			if used {
				continue
			}
			if err := tx.claim(ctx, address); !apierrors.IsAlreadyExists(err) {
				return address.String(), err
			}
		}
	}
	return tx.allocateLeaked(ctx, ranges)
}

func (tx *transaction) allocateLeaked(ctx context.Context, ranges []addressRange) (string, error) {
	claims, err := listAll[*networkingv1.IPAddress](ctx, tx.store.Catalog(), networkingv1.Resource("ipaddresses"), "0")
	if err != nil {
		return "", err
	}
	for _, claim := range claims {
		address, err := netip.ParseAddr(claim.Name)
		if err != nil || !slices.ContainsFunc(ranges, func(r addressRange) bool { return r.contains(address) }) || !tx.mayBeLeaked(claim) {
			continue
		}
		if free, err := tx.reclaim(ctx, address); err != nil || !free {
			if err != nil {
				return "", err
			}
			continue
		}
		if err := tx.claim(ctx, address); !apierrors.IsAlreadyExists(err) {
			return address.String(), err
		}
	}
	return "", errFull
}

// usedByOther reports whether another service has an address. The service may have no IPAddress
// object, because an older release stored it or a client deleted the object.
func (tx *transaction) usedByOther(ctx context.Context, address netip.Addr, resourceVersion string) (bool, error) {
	for _, name := range core.ClusterIPFields {
		services, err := registry.ReadAll[*corev1.Service](ctx, tx.store, registry.ListRequest{
			Field: fields.OneTermEqualSelector(name, address.String()), ResourceVersion: resourceVersion,
		})
		if err != nil {
			return false, err
		}
		for _, s := range services {
			if s.Namespace != tx.service.Namespace || s.Name != tx.service.Name {
				return true, nil
			}
		}
	}
	return false, nil
}

func addressesOf(s *corev1.Service) []netip.Addr {
	var addresses []netip.Addr
	for _, ip := range s.Spec.ClusterIPs {
		if address, err := netip.ParseAddr(ip); err == nil { // skips None
			addresses = append(addresses, address)
		}
	}
	return addresses
}
