package serviceip

import (
	"fmt"
	"net/netip"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ParseRanges parses one CIDR, or two of different IP families separated by a comma.
func ParseRanges(text string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for cidr := range strings.SplitSeq(text, ",") {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, fmt.Errorf("service cluster IP range %q is not a CIDR such as 10.0.0.0/24", cidr)
		}
		if prefix.Addr().BitLen()-prefix.Bits() < 3 {
			return nil, fmt.Errorf("service cluster IP range %q is too small: it needs at least 8 addresses", cidr)
		}
		ranges = append(ranges, prefix.Masked())
	}
	if len(ranges) > 2 || len(ranges) == 2 && ranges[0].Addr().Is4() == ranges[1].Addr().Is4() {
		return nil, fmt.Errorf("service cluster IP range %q is neither one CIDR nor two of different IP families", text)
	}
	return ranges, nil
}

// ParseNodePorts parses FIRST-LAST.
func ParseNodePorts(text string) (utilnet.PortRange, error) {
	ports, err := utilnet.ParsePortRange(text)
	if err != nil || ports.Base == 0 {
		return utilnet.PortRange{}, fmt.Errorf("service node port range %q is not FIRST-LAST, such as 30000-32767", text)
	}
	return *ports, nil
}
