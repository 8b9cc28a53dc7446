// Package loopback recognizes names and addresses of the loopback interface.
package loopback

import (
	"net/netip"
	"strings"
)

// IsHost reports whether host is "localhost", in any case, or a loopback address. host has
// neither a port nor the brackets of IPv6 literals. No name is resolved.
func IsHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
