package serviceip

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/versioner"
)

// manager is the value of the managed-by label of allocated IPAddresses, as in kube-apiserver.
const manager = "ipallocator.k8s.io"

// NewIPAddress returns the IPAddress object of a service address.
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

// claim claims an address by creating its IPAddress object. It returns AlreadyExists if the address
// is claimed.
func (tx *transaction) claim(ctx context.Context, address netip.Addr) error {
	store, err := registry.Require(tx.store.Catalog(), networkingv1.Resource("ipaddresses"))
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

// releaseAddresses releases addresses at the commit, if they were claimed before the given
// resourceVersion of the service. A later claim belongs to another write, which may have reclaimed
// the address.
func (tx *transaction) releaseAddresses(ips []string, version string) {
	for _, ip := range ips {
		address, err := netip.ParseAddr(ip)
		if err != nil {
			continue // None
		}
		tx.onCommit(func(ctx context.Context) error { return tx.releaseAddress(ctx, address, version) })
	}
}

func (tx *transaction) releaseAddress(ctx context.Context, address netip.Addr, version string) error {
	store, err := registry.Require(tx.store.Catalog(), networkingv1.Resource("ipaddresses"))
	if err != nil {
		return err
	}
	claim, err := registry.Read[*networkingv1.IPAddress](ctx, store, "", address.String(), "")
	if err != nil {
		return ignoreNotFound(err)
	}
	if !isParent(claim.Spec.ParentRef, tx.service) || !isOlder(claim.ResourceVersion, version) {
		return nil
	}
	return release(ctx, store, claim)
}

// release deletes a claim, if it still exists.
func release(ctx context.Context, store registry.Interface, claim *networkingv1.IPAddress) error {
	err := remove(ctx, store, claim)
	if apierrors.IsConflict(err) {
		return nil // a newer claim of the address
	}
	return ignoreNotFound(err)
}

// remove deletes the IPAddress with the UID of the claim.
func remove(ctx context.Context, store registry.Interface, claim *networkingv1.IPAddress) error {
	uid := claim.UID
	_, err := store.Delete(ctx, registry.DeleteRequest{
		Name: claim.Name, Options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
	return err
}

// isOlder reports whether resourceVersion a precedes b.
func isOlder(a, b string) bool {
	parse := versioner.APIObjectVersioner{}.ParseResourceVersion
	x, xErr := parse(a)
	y, yErr := parse(b)
	return xErr == nil && yErr == nil && x < y
}

func isParent(ref *networkingv1.ParentReference, s *corev1.Service) bool {
	return ref != nil && ref.Group == "" && ref.Resource == "services" && ref.Namespace == s.Namespace && ref.Name == s.Name
}

// mayBeLeaked reports whether an allocator claimed an address so long ago that the request cannot
// be in flight anymore.
func (tx *transaction) mayBeLeaked(claim *networkingv1.IPAddress) bool {
	ref := claim.Spec.ParentRef
	return claim.Labels[networkingv1.LabelManagedBy] == manager && ref != nil && ref.Resource == "services" &&
		tx.config.Now().Sub(claim.CreationTimestamp.Time) > leakedAfter
}

// reclaim deletes a leaked claim of an address, and reports whether the address is free now.
func (tx *transaction) reclaim(ctx context.Context, address netip.Addr) (bool, error) {
	store, err := registry.Require(tx.store.Catalog(), networkingv1.Resource("ipaddresses"))
	if err != nil {
		return false, err
	}
	claim, err := registry.Read[*networkingv1.IPAddress](ctx, store, "", address.String(), "")
	if err != nil {
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	}
	if tx.dry || !tx.mayBeLeaked(claim) {
		return false, nil
	}
	service, err := registry.Read[*corev1.Service](ctx, tx.store, claim.Spec.ParentRef.Namespace, claim.Spec.ParentRef.Name, "")
	if err == nil && slices.Contains(addressesOf(service), address) {
		return false, nil
	}
	if ignoreNotFound(err) != nil {
		return false, err
	}
	err = remove(ctx, store, claim)
	if apierrors.IsConflict(err) {
		return false, nil // another request was faster
	}
	return err == nil || apierrors.IsNotFound(err), ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
