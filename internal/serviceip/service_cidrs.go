package serviceip

import (
	"context"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/core"
)

// ranges returns the address ranges of a family: the configured ones, then those of ServiceCIDR
// objects.
func (tx *transaction) ranges(ctx context.Context, family corev1.IPFamily) ([]addressRange, error) {
	prefixes := slices.Clone(tx.config.ServiceRanges)
	cidrs, err := listAll[*networkingv1.ServiceCIDR](ctx, tx.store.Catalog(), networkingv1.Resource("servicecidrs"), "0")
	if err != nil {
		return nil, err
	}
	for _, cidr := range cidrs {
		for _, text := range cidr.Spec.CIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil && isReady(cidr) {
				prefixes = append(prefixes, prefix)
			}
		}
	}
	var ranges []addressRange
	for _, prefix := range prefixes {
		r := newRange(prefix)
		if core.FamilyOf(prefix.Addr().String()) == family && !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	return ranges, nil
}

// isReady reports whether a ServiceCIDR is ready. Without a Ready condition it is.
func isReady(cidr *networkingv1.ServiceCIDR) bool {
	notReady := func(c metav1.Condition) bool {
		return c.Type == networkingv1.ServiceCIDRConditionReady && c.Status != metav1.ConditionTrue
	}
	return cidr.DeletionTimestamp == nil && !slices.ContainsFunc(cidr.Status.Conditions, notReady)
}

// addressRange holds the usable addresses of a network: all except the network address and, for
// IPv4, the broadcast address. The addresses before dynamic are preferred for explicit requests.
type addressRange struct {
	first, dynamic, last netip.Addr
}

func newRange(prefix netip.Prefix) addressRange {
	prefix = prefix.Masked()
	hostBits := prefix.Addr().BitLen() - prefix.Bits()
	size := new(big.Int).Lsh(big.NewInt(1), uint(hostBits))
	last := plus(prefix.Addr(), new(big.Int).Sub(size, big.NewInt(1)))
	if prefix.Addr().Is4() {
		last = last.Prev()
	}
	r := addressRange{first: prefix.Addr().Next(), last: last}
	static := int64(256)
	if size.IsInt64() {
		static = min(max(16, size.Int64()/16), 256)
	}
	if size.Cmp(big.NewInt(16)) <= 0 {
		static = 0
	}
	r.dynamic = plus(r.first, big.NewInt(static))
	return r
}

func plus(address netip.Addr, n *big.Int) netip.Addr {
	bytes := address.AsSlice()
	sum := new(big.Int).Add(new(big.Int).SetBytes(bytes), n)
	result, _ := netip.AddrFromSlice(sum.FillBytes(bytes))
	return result
}

// distance returns the number of addresses between two addresses, at most MaxInt64.
func distance(from, to netip.Addr) int64 {
	n := new(big.Int).Sub(new(big.Int).SetBytes(to.AsSlice()), new(big.Int).SetBytes(from.AsSlice()))
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

func (r addressRange) contains(address netip.Addr) bool {
	return address.BitLen() == r.first.BitLen() && !address.Less(r.first) && !r.last.Less(address)
}

// candidates returns all addresses of a range: first the dynamic part, then the static one, each
// from a random start, so that two servers seldom try the same address.
func (r addressRange) candidates() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		if !r.last.Less(r.dynamic) && !eachFromRandom(r.dynamic, r.last, yield) {
			return
		}
		if r.first.Less(r.dynamic) {
			eachFromRandom(r.first, r.dynamic.Prev(), yield)
		}
	}
}

// eachFromRandom yields all addresses from first to last, starting at a random one.
func eachFromRandom(first, last netip.Addr, yield func(netip.Addr) bool) bool {
	start := first
	if n := distance(first, last); n > 0 {
		start = plus(first, big.NewInt(rand.Int64N(n)))
	}
	for address := start; ; {
		if !yield(address) {
			return false
		}
		if address = address.Next(); !address.IsValid() || last.Less(address) {
			address = first
		}
		if address == start {
			return true
		}
	}
}
