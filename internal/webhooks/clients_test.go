package webhooks

import "testing"

// Only URLs are requested through a proxy: it cannot resolve the names of Services.
func TestServicesHaveNoProxy(t *testing.T) {
	clients := NewClients(nil, nil, nil)
	defer clients.Close()
	for name, tc := range map[string]struct {
		to   endpoint
		want bool
	}{
		"URL":     {endpoint{name: "example.com"}, true},
		"Service": {endpoint{name: "a.b.svc", service: Service{Namespace: "b", Name: "a"}}, false},
	} {
		transport, err := clients.transport(tc.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := transport.Proxy != nil; got != tc.want {
			t.Errorf("%s: uses a proxy: %t", name, got)
		}
	}
}
