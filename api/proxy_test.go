package api

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// The deadline of a request ends when its connection is upgraded, which may stay open for hours.
func TestUpgradedConnectionsHaveNoDeadline(t *testing.T) {
	ended := make(chan bool, 1)
	handler := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		ended <- !w.(*proxyResponse).deadline.Stop()
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"))
	}
	s := newTestServer(t, func(c *Config) {
		gv := schema.GroupVersion{Group: "ext.example.org", Version: "v1"}
		c.Catalog.SetRemotes([]*registry.Remote{{GroupVersion: gv}})
		c.Remote = func(of schema.GroupVersion) (http.Handler, bool) { return http.HandlerFunc(handler), of == gv }
	})
	res := s.open("GET", "/apis/ext.example.org/v1/things", "", "Connection: Upgrade", "Upgrade: echo")
	defer res.Body.Close()
	if res.StatusCode != http.StatusSwitchingProtocols || !<-ended {
		t.Errorf("%s with a deadline", res.Status)
	}
}
