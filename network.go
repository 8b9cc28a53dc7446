package miniapi

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/kinds/resource"
	"github.com/miniapi/miniapi/registry"
)

// hooks returns the hooks of resources: allocation of addresses and ports, type checks, and
// validation that depends on other objects or on the user.
func (s *Server) hooks() (map[schema.GroupResource]registry.Hooks, error) {
	ranges, err := parseServiceRanges(s.config.ServiceClusterIPRange)
	if err != nil {
		return nil, err
	}
	ports, err := parseNodePorts(s.config.ServiceNodePortRange)
	if err != nil {
		return nil, err
	}
	allocator := serviceip.New(serviceip.Config{ServiceRanges: ranges, NodePorts: ports})
	hooks := map[schema.GroupResource]registry.Hooks{corev1.Resource("services"): allocator.Hooks()}
	maps.Copy(hooks, s.policies.Hooks())
	maps.Copy(hooks, resource.Hooks())
	return hooks, nil
}

func validateServiceRange(ranges string) error {
	_, err := parseServiceRanges(ranges)
	return err
}

func parseServiceRanges(ranges string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for cidr := range strings.SplitSeq(ranges, ",") {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, fmt.Errorf("service cluster IP range %q is not a CIDR such as 10.0.0.0/24", cidr)
		}
		if prefix.Addr().BitLen()-prefix.Bits() < 3 {
			return nil, fmt.Errorf("service cluster IP range %q is too small: it needs at least 8 addresses", cidr)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	if len(prefixes) > 2 || len(prefixes) == 2 && prefixes[0].Addr().Is4() == prefixes[1].Addr().Is4() {
		return nil, fmt.Errorf("service cluster IP range %q is neither one CIDR nor two of different IP families", ranges)
	}
	return prefixes, nil
}

func validateNodePorts(ports string) error {
	_, err := parseNodePorts(ports)
	return err
}

func parseNodePorts(text string) (utilnet.PortRange, error) {
	ports, err := utilnet.ParsePortRange(text)
	if err != nil || ports.Base == 0 {
		return utilnet.PortRange{}, fmt.Errorf("service node port range %q is not FIRST-LAST, such as 30000-32767", text)
	}
	return *ports, nil
}
