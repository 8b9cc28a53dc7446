package serviceip

import (
	"context"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/registry"
)

// manager marks the IPAddresses that are allocated, as kube-apiserver does.
const manager = "ipallocator.k8s.io"

// NewIPAddress returns the object that stands for an address of a service.
func NewIPAddress(address netip.Addr, namespace, service string) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{
			Name: address.String(),
			Labels: map[string]string{
				networkingv1.LabelIPAddressFamily: string(core.FamilyOf(address.String())),
				networkingv1.LabelManagedBy:       manager,
			},
		},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{
			Resource: "services", Namespace: namespace, Name: service,
		}},
	}
}

// claim takes an address by creating its object: it is an AlreadyExists if
// somebody has it.
func (tx *transaction) claim(ctx context.Context, address netip.Addr) error {
	store, err := tx.store.Require(networkingv1.Resource("ipaddresses"))
	if err != nil {
		return err
	}
	claim := NewIPAddress(address, tx.service.Namespace, tx.service.Name)
	result, err := store.Create(ctx, registry.CreateRequest{Object: claim, Options: registry.WriteOptions{DryRun: tx.dry}})
	if err == nil {
		claim, err = registry.As[*networkingv1.IPAddress](result.Entry)
	}
	tx.onRollback(err, func(ctx context.Context) error { return release(ctx, store, claim) })
	return err
}

// releaseAddresses gives addresses back after the write, as far as the service
// had taken them before the given version of it. A later claim is that of
// another write, which may have found the address lost.
func (tx *transaction) releaseAddresses(ips []string, version string) {
	for _, ip := range ips {
		address, err := netip.ParseAddr(ip)
		if err != nil {
			continue // such as None
		}
		tx.onCommit(func(ctx context.Context) error { return tx.releaseAddress(ctx, address, version) })
	}
}

func (tx *transaction) releaseAddress(ctx context.Context, address netip.Addr, version string) error {
	store, err := tx.store.Require(networkingv1.Resource("ipaddresses"))
	if err != nil {
		return err
	}
	claim, err := registry.Read[*networkingv1.IPAddress](ctx, store, "", address.String(), "")
	if err != nil {
		return ignoreAbsent(err)
	}
	if !isParent(claim.Spec.ParentRef, tx.service) || !isOlder(claim.ResourceVersion, version) {
		return nil
	}
	return release(ctx, store, claim)
}

// release removes a claim unless it is gone already.
func release(ctx context.Context, store *registry.Store, claim *networkingv1.IPAddress) error {
	err := remove(ctx, store, claim)
	if apierrors.IsConflict(err) {
		return nil // another claim of the address
	}
	return ignoreAbsent(err)
}

// remove deletes one incarnation of an IPAddress.
func remove(ctx context.Context, store *registry.Store, claim *networkingv1.IPAddress) error {
	uid := claim.UID
	_, err := store.Delete(ctx, registry.DeleteRequest{
		Name: claim.Name, Options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
	return err
}

// isOlder compares versions of objects of one etcd.
func isOlder(a, b string) bool {
	x, xErr := strconv.ParseInt(a, 10, 64)
	y, yErr := strconv.ParseInt(b, 10, 64)
	return xErr == nil && yErr == nil && x < y
}

func isParent(ref *networkingv1.ParentReference, s *corev1.Service) bool {
	return ref != nil && ref.Group == "" && ref.Resource == "services" && ref.Namespace == s.Namespace && ref.Name == s.Name
}

// mayBeLost tells whether an address was taken, by an allocator, too long ago for
// the request to be still on its way.
func (tx *transaction) mayBeLost(claim *networkingv1.IPAddress) bool {
	ref := claim.Spec.ParentRef
	return claim.Labels[networkingv1.LabelManagedBy] == manager && ref != nil && ref.Resource == "services" &&
		tx.config.Now().Sub(claim.CreationTimestamp.Time) > leakedAfter
}

// reclaim removes the claim to an address that its service does not use, and
// tells whether the address is free now.
func (tx *transaction) reclaim(ctx context.Context, address netip.Addr) (bool, error) {
	store, err := tx.store.Require(networkingv1.Resource("ipaddresses"))
	if err != nil {
		return false, err
	}
	claim, err := registry.Read[*networkingv1.IPAddress](ctx, store, "", address.String(), "")
	if err != nil {
		return apierrors.IsNotFound(err), ignoreAbsent(err)
	}
	if tx.dry || !tx.mayBeLost(claim) {
		return false, nil
	}
	service, err := registry.Read[*corev1.Service](ctx, tx.store, claim.Spec.ParentRef.Namespace, claim.Spec.ParentRef.Name, "")
	if err == nil && slices.Contains(addressesOf(service), address) {
		return false, nil
	}
	if ignoreAbsent(err) != nil {
		return false, err
	}
	err = remove(ctx, store, claim)
	if apierrors.IsConflict(err) {
		return false, nil // somebody else was faster
	}
	return err == nil || apierrors.IsNotFound(err), ignoreAbsent(err)
}

func ignoreAbsent(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
