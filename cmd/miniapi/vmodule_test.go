package main_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// --vmodule sets the level of one component; the line of a request has the ID of its response.
func TestLogLevelOfAComponent(t *testing.T) {
	s := serve(t, "--vmodule", "etcd=7", "--log-requests")
	res, err := http.Get(s.url + "/api/v1/namespaces")
	check(t, err)
	check(t, res.Body.Close())
	check(t, s.stop(syscall.SIGTERM))
	id := "auditID=" + res.Header.Get("Audit-Id")
	found := map[string]bool{}
	for line := range strings.Lines(s.stderr.String()) {
		switch {
		case strings.Contains(line, "component=etcd") && strings.Contains(line, "level=DEBUG"):
			found["etcd"] = true
		case strings.Contains(line, id):
			found["request"] = true
		case !strings.Contains(line, "component=etcd") && strings.Contains(line, "level=DEBUG"):
			t.Errorf("another component: %s", line)
		}
	}
	if !found["etcd"] || !found["request"] {
		t.Errorf("the log has %v of etcd and the request:\n%.2000s", found, s.stderr)
	}
}
