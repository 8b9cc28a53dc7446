package outgoing

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
)

// Proxy returns the URL of the proxy for a request, from the environment variables HTTPS_PROXY,
// HTTP_PROXY and NO_PROXY, or nil for none. It is the member Proxy of an http.Transport.
//
// A proxy resolves host names itself, so the policy cannot check their addresses: behind a proxy
// it has to allow the host by its name, or the address if the URL has one. DialContext checks the
// address of the proxy.
func (d *Dialer) Proxy(r *http.Request) (*url.URL, error) {
	proxy, err := d.proxyOf(r)
	if proxy == nil || err != nil {
		return nil, err
	}
	return proxy, d.policy.checkBehindProxy(r.URL)
}

// checkBehindProxy returns an error unless the policy allows the host of a URL without resolving
// its name.
func (p *Policy) checkBehindProxy(to *url.URL) error {
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
	}
	address := net.JoinHostPort(to.Hostname(), port)
	if p == nil || p.allowsName(address) {
		return nil
	}
	if _, err := netip.ParseAddr(to.Hostname()); err == nil {
		return p.check(address)
	}
	return fmt.Errorf("%w: behind a proxy, a host needs an entry with its name", errNotAllowed)
}
