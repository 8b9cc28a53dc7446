package outgoing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

var errNotAllowed = errors.New("the address is not allowed by --outgoing-allow")

// Policy limits the addresses of other servers. Nil allows all. It is immutable.
type Policy struct{ rules []rule }

// rule allows a host, or the addresses of a prefix, at one port or at all.
type rule struct {
	host   string
	prefix netip.Prefix
	port   string // "": all
}

// ParsePolicy returns the policy that allows the given addresses, each a CIDR, an IP address or a
// host name, and optionally a port: 10.0.0.0/8, 127.0.0.1:8443, [::1]:443, example.com:443. It
// returns nil for none, and the errors of all addresses, joined.
func ParsePolicy(allowed []string) (*Policy, error) {
	if len(allowed) == 0 {
		return nil, nil
	}
	p := &Policy{}
	var errs []error
	for _, text := range allowed {
		r, ok := parseRule(text)
		if !ok {
			errs = append(errs, fmt.Errorf("--outgoing-allow %q is not a CIDR, an IP address or a host, optionally with a port, such as 10.0.0.0/8 or example.com:443", text))
		}
		p.rules = append(p.rules, r)
	}
	return p, errors.Join(errs...)
}

func parseRule(text string) (rule, bool) {
	r := rule{host: text}
	if host, port, err := net.SplitHostPort(text); err == nil {
		if _, err := net.LookupPort("tcp", port); err != nil {
			return r, false
		}
		r.host, r.port = host, port
	}
	if address, err := netip.ParseAddr(strings.Trim(r.host, "[]")); err == nil {
		r.prefix = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
		return r, true
	}
	if strings.Contains(r.host, "/") {
		prefix, err := netip.ParsePrefix(r.host)
		r.prefix = prefix.Masked()
		return r, err == nil
	}
	return r, r.host != "" && !strings.ContainsAny(r.host, ":[]* ")
}

// DialContext connects to an address if the policy allows it. A host that is not allowed by its
// name is resolved, and each address is checked before the connection.
func (p *Policy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if p != nil && !p.allowsName(address) {
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error { return p.check(resolved) }
	}
	return dialer.DialContext(ctx, network, address)
}

func (p *Policy) allowsName(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && slices.ContainsFunc(p.rules, func(r rule) bool {
		return strings.EqualFold(r.host, host) && (r.port == "" || r.port == port)
	})
}

// check returns an error unless the policy allows an IP address with a port.
func (p *Policy) check(resolved string) error {
	address, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return err
	}
	for _, r := range p.rules {
		if r.prefix.IsValid() && r.prefix.Contains(address.Addr().Unmap().WithZone("")) && (r.port == "" || r.port == fmt.Sprint(address.Port())) {
			return nil
		}
	}
	return errNotAllowed
}
