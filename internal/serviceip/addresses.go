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
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/kinds/core"
)

var (
	errFull         = errors.New("range is full")
	errAddressTaken = errors.New("provided IP is already allocated")
	errNoRange      = errors.New("the provided network does not match the current range")
)

// takeAddresses gives the service an address of each of its families, but for
// the first so many, which it has.
func (tx *transaction) takeAddresses(ctx context.Context, from int) error {
	spec := &tx.service.Spec
	if !wantsAddresses(tx.service) {
		return nil
	}
	for i := from; i < len(spec.IPFamilies); i++ {
		if i >= len(spec.ClusterIPs) {
			spec.ClusterIPs = append(slices.Clip(spec.ClusterIPs), "")
		}
		address, err := tx.takeAddress(ctx, spec.IPFamilies[i], spec.ClusterIPs[i])
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

func wantsAddresses(s *corev1.Service) bool {
	return s.Spec.Type != corev1.ServiceTypeExternalName && !core.IsHeadless(s)
}

// changeAddresses takes what a service has come to need, and gives back what it
// needs no more.
func (tx *transaction) changeAddresses(ctx context.Context, old *corev1.Service) error {
	now, was := &tx.service.Spec, &old.Spec
	switch {
	case core.IsHeadless(old) || staysDual(tx.service, old):
	case len(was.ClusterIPs) == 0: // it had another type, or was written without allocation
		return tx.takeAddresses(ctx, 0)
	case now.Type == corev1.ServiceTypeExternalName:
		tx.releaseAddresses(was.ClusterIPs, old.ResourceVersion)
	case len(was.IPFamilies) == 1 && len(now.IPFamilies) == 2:
		return tx.takeAddresses(ctx, 1)
	case len(was.IPFamilies) == 2 && len(now.IPFamilies) == 1:
		tx.releaseAddresses(was.ClusterIPs[1:], old.ResourceVersion)
	}
	return nil
}

// takeAddress takes a certain address, or any if it is "".
func (tx *transaction) takeAddress(ctx context.Context, family corev1.IPFamily, wanted string) (string, error) {
	ranges, err := tx.ranges(ctx, family)
	if err != nil {
		return "", err
	}
	if wanted == "" {
		address, err := tx.takeAny(ctx, ranges)
		if errors.Is(err, errFull) {
			return "", apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: %w", err))
		}
		return address, err
	}
	address, err := netip.ParseAddr(wanted) // validation has seen it
	if err == nil {
		err = tx.takeCertain(ctx, ranges, address)
	}
	if errors.Is(err, errAddressTaken) || errors.Is(err, errNoRange) {
		at := field.NewPath("spec", "clusterIPs")
		return "", tx.invalid(field.ErrorList{field.Invalid(at, tx.service.Spec.ClusterIPs, fmt.Sprintf("failed to allocate IP %s: %v", wanted, err))})
	}
	return wanted, err
}

func (tx *transaction) takeCertain(ctx context.Context, ranges []addressRange, address netip.Addr) error {
	if !slices.ContainsFunc(ranges, func(r addressRange) bool { return r.contains(address) }) {
		return errNoRange
	}
	used, err := tx.usedBySomebody(ctx, "")
	if err != nil {
		return err
	}
	if used[address] {
		return errAddressTaken
	}
	err = tx.claim(ctx, address)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if free, err := tx.reclaim(ctx, address); err != nil || !free {
		return errors.Join(err, errAddressTaken)
	}
	if err = tx.claim(ctx, address); apierrors.IsAlreadyExists(err) {
		return errAddressTaken
	}
	return err
}

// takeAny tries what seems to be free, and then what may have been lost.
func (tx *transaction) takeAny(ctx context.Context, ranges []addressRange) (string, error) {
	taken, err := tx.usedBySomebody(ctx, "0")
	if err != nil {
		return "", err
	}
	claims, err := all[*networkingv1.IPAddress](ctx, tx.store, networkingv1.Resource("ipaddresses"), "0")
	if err != nil {
		return "", err
	}
	for _, claim := range claims {
		if address, err := netip.ParseAddr(claim.Name); err == nil {
			taken[address] = true
		}
	}
	for _, r := range ranges {
		for address := range r.candidates() {
			if taken[address] {
				continue
			}
			if err := tx.claim(ctx, address); !apierrors.IsAlreadyExists(err) {
				return address.String(), err
			}
		}
	}
	return tx.takeLost(ctx, ranges, claims)
}

func (tx *transaction) takeLost(ctx context.Context, ranges []addressRange, claims []*networkingv1.IPAddress) (string, error) {
	for _, claim := range claims {
		address, err := netip.ParseAddr(claim.Name)
		if err != nil || !slices.ContainsFunc(ranges, func(r addressRange) bool { return r.contains(address) }) || !tx.mayBeLost(claim) {
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

// usedBySomebody returns the addresses of all other services: there may be some
// without an IPAddress, which older releases wrote or somebody removed.
func (tx *transaction) usedBySomebody(ctx context.Context, resourceVersion string) (map[netip.Addr]bool, error) {
	services, err := all[*corev1.Service](ctx, tx.store, corev1.Resource("services"), resourceVersion)
	if err != nil {
		return nil, err
	}
	used := map[netip.Addr]bool{}
	for _, s := range services {
		if s.Namespace == tx.service.Namespace && s.Name == tx.service.Name {
			continue
		}
		for _, address := range addressesOf(s) {
			used[address] = true
		}
	}
	return used, nil
}

func addressesOf(s *corev1.Service) []netip.Addr {
	var addresses []netip.Addr
	for _, ip := range s.Spec.ClusterIPs {
		if address, err := netip.ParseAddr(ip); err == nil { // it may be None
			addresses = append(addresses, address)
		}
	}
	return addresses
}
