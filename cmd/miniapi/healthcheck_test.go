package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	plain := serve(t)
	secure := serveCommand(t, command(t, "--secure-port", "0", "--authorization-mode", "RBAC", "--cert-dir", t.TempDir()))
	for _, url := range []string{plain.url, plain.url + "/", secure.url} {
		if out, err := command(t, "healthcheck", url).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", url, err, out)
		}
	}
	agents := make(chan string, 1)
	notReady := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agents <- r.UserAgent()
		http.NotFound(w, r)
	}))
	defer notReady.Close()
	for url, want := range map[string]string{
		"http://127.0.0.1:1": "miniapi: healthcheck: Get \"http://127.0.0.1:1/readyz\": dial tcp ",
		notReady.URL:         "miniapi: healthcheck: " + notReady.URL + "/readyz: 404 Not Found",
		"localhost":          `miniapi: healthcheck: "localhost" is not the URL of a server: use http://localhost`,
	} {
		if lines := failingRun(t, "healthcheck", url); len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
			t.Errorf("%s: %q, want one line with %s", url, lines, want)
		}
	}
	if agent := <-agents; !strings.HasPrefix(agent, "miniapi/") {
		t.Errorf("user agent %q", agent)
	}
}
