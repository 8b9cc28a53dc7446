package outgoing

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// connectRecorder is a proxy that refuses all requests and records their hosts.
func connectRecorder(t *testing.T) (proxy *url.URL, hosts func() []string) {
	received := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received <- r.Host
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	proxy, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return proxy, func() (all []string) {
		for len(received) > 0 {
			all = append(all, <-received)
		}
		return all
	}
}

func TestPolicyBehindProxy(t *testing.T) {
	const loopback = "127.0.0.0/8" // of the proxy
	for name, tc := range map[string]struct {
		allowed  []string
		url      string
		host     string // that the proxy receives
		contains string
	}{
		"everything":         {nil, "https://example.com", "example.com:443", "teapot"},
		"a name":             {[]string{loopback, "example.com"}, "https://Example.com", "Example.com:443", "teapot"},
		"a name and a port":  {[]string{loopback, "example.com:8443"}, "https://example.com:8443", "example.com:8443", "teapot"},
		"an address":         {[]string{loopback, "10.0.0.0/8:443"}, "https://10.0.0.1", "10.0.0.1:443", "teapot"},
		"an IPv6 address":    {[]string{loopback, "fd00::/8"}, "https://[fd00::1]", "[fd00::1]:443", "teapot"},
		"another name":       {[]string{loopback, "example.com"}, "https://example.org", "", "needs an entry with its name"},
		"another port":       {[]string{loopback, "example.com:443"}, "https://example.com:8443", "", "needs an entry with its name"},
		"a name by a prefix": {[]string{"0.0.0.0/0", "::/0"}, "https://example.com", "", "needs an entry with its name"},
		"another address":    {[]string{loopback}, "https://10.0.0.1", "", "not allowed by --outgoing-allow"},
		"without the proxy":  {[]string{"example.com"}, "https://example.com", "", "not allowed by --outgoing-allow"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, hosts := connectRecorder(t)
			policy, err := ParsePolicy(tc.allowed)
			if err != nil {
				t.Fatal(err)
			}
			dialer := NewDialer(policy)
			defer dialer.Close()
			dialer.proxyOf = http.ProxyURL(proxy)
			transport := &http.Transport{Proxy: dialer.Proxy, DialContext: dialer.DialContext}
			defer transport.CloseIdleConnections()
			_, err = NewClient(transport).Get(tc.url)
			if err == nil || !strings.Contains(err.Error(), tc.contains) {
				t.Errorf("error %v, want %q in it", err, tc.contains)
			}
			var want []string
			if tc.host != "" {
				want = []string{tc.host}
			}
			if got := hosts(); !slices.Equal(got, want) {
				t.Errorf("the proxy received %v, want %v", got, want)
			}
		})
	}
}
