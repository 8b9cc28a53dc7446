package outgoing

import (
	"net"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, tc := range map[string]struct {
		allowed []string
		host    string
		want    bool
	}{
		"everything":               {nil, "127.0.0.1", true},
		"a prefix":                 {[]string{"127.0.0.0/8"}, "127.0.0.1", true},
		"a prefix with the port":   {[]string{"127.0.0.0/8:" + port}, "127.0.0.1", true},
		"an address":               {[]string{"10.0.0.1", "127.0.0.1"}, "127.0.0.1", true},
		"an address with the port": {[]string{"127.0.0.1:" + port}, "127.0.0.1", true},
		"a name":                   {[]string{"localhost:" + port}, "localhost", true},
		"the address of a name":    {[]string{"127.0.0.1", "::1"}, "localhost", true},
		"another prefix":           {[]string{"10.0.0.0/8"}, "127.0.0.1", false},
		"another port":             {[]string{"127.0.0.1:1"}, "127.0.0.1", false},
		"another name":             {[]string{"example.com"}, "localhost", false},
		"a name for its address":   {[]string{"localhost"}, "127.0.0.1", false},
		"another port of a name":   {[]string{"localhost:1"}, "localhost", false},
		"an IPv6 prefix":           {[]string{"::/0"}, "127.0.0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := ParsePolicy(tc.allowed)
			if err != nil {
				t.Fatal(err)
			}
			dialer := NewDialer(policy)
			defer dialer.Close()
			conn, err := dialer.DialContext(t.Context(), "tcp4", net.JoinHostPort(tc.host, port))
			if err == nil {
				conn.Close()
			}
			if (err == nil) != tc.want || err != nil && !strings.HasSuffix(err.Error(), ": the address is not allowed by --outgoing-allow") {
				t.Errorf("error %v", err)
			}
		})
	}
	for _, invalid := range []string{"", "10.0.0.0/33", "a:b:c", "*.example.com", "a:x", ":443"} {
		if _, err := ParsePolicy([]string{invalid}); err == nil {
			t.Errorf("%q is accepted", invalid)
		}
	}
}
