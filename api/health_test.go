package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/api/healthz"
)

func TestHealth(t *testing.T) {
	unhealthy := errors.New("the disk is full")
	store := func(err error) func(*Config) {
		return func(c *Config) {
			c.Ready = []healthz.Check{{Name: "etcd", Check: func(context.Context) error { return err }}}
		}
	}
	for name, tc := range map[string]struct {
		store  error
		path   string
		status int
		body   string
	}{
		"a healthy server":             {nil, "/readyz", 200, "ok"},
		"a path with a trailing slash": {nil, "/livez/", 404, "404 page not found\n"},
		"verbose lists the checks": {nil, "/healthz?verbose", 200,
			"[+]ping ok\n[+]etcd ok\nhealthz check passed\n"},
		"a failed check fails the endpoint, which withholds the reason": {unhealthy, "/readyz", 500,
			"[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"},
		"an excluded check is not called": {unhealthy, "/readyz?verbose&exclude=etcd", 200,
			"[+]ping ok\n[+]etcd excluded: ok\nreadyz check passed\n"},
		"an unknown excluded check causes a warning": {nil, "/livez?verbose&exclude=b&exclude=a&exclude=b", 200,
			"[+]ping ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"b\"\nlivez check passed\n"},
		"a check has its own endpoint":             {nil, "/healthz/etcd", 200, "ok"},
		"the endpoint of a check shows the reason": {unhealthy, "/readyz/etcd", 500, "internal server error: the disk is full\n"},
		"an unknown check":                         {nil, "/readyz/nope", 404, "404 page not found\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorelessServer(t, store(tc.store))
			r := s.do("GET", tc.path, "")
			if r.status != tc.status || r.body != tc.body {
				t.Errorf("GET %s is %d %q, want %d %q", tc.path, r.status, r.body, tc.status, tc.body)
			}
			if got := r.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
				t.Errorf("Content-Type is %s", got)
			}
		})
	}
}

func TestHealthChecksAreCounted(t *testing.T) {
	var err error
	s := newStorelessServer(t, func(c *Config) {
		c.Ready = []healthz.Check{{Name: "etcd", Check: func(context.Context) error { return err }}}
	})
	s.must(http.StatusOK, s.do("GET", "/readyz", ""))
	err = errors.New("the disk is full")
	s.must(http.StatusInternalServerError, s.do("GET", "/readyz", ""))
	s.must(http.StatusOK, s.do("GET", "/livez?exclude=etcd", ""))
	got := s.do("GET", "/metrics/slis", "").body
	for _, line := range []string{
		`kubernetes_healthcheck{name="etcd",type="readyz"} 0`,
		`kubernetes_healthcheck{name="ping",type="livez"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1`,
		`kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	if strings.Contains(got, `{name="etcd",type="livez"}`) {
		t.Errorf("an excluded check is counted:\n%s", got)
	}
}

// Checks have a deadline.
func TestHealthCheckDeadline(t *testing.T) {
	s := newStorelessServer(t, func(c *Config) {
		c.Ready = []healthz.Check{{Name: "etcd", Check: func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				return errors.New("no deadline")
			}
			return nil
		}}}
	})
	s.must(http.StatusOK, s.do("GET", "/readyz", ""))
}
