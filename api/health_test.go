package api

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

func TestHealth(t *testing.T) {
	ill := errors.New("the disk is full")
	store := func(err error) func(*Config) {
		return func(c *Config) {
			c.Ready = []Check{{Name: "etcd", Check: func(context.Context) error { return err }}}
		}
	}
	for name, tc := range map[string]struct {
		store  error
		path   string
		status int
		body   string
	}{
		"who asks for no details gets none":   {nil, "/readyz", 200, "ok"},
		"a slash at the end is no difference": {nil, "/livez/", 200, "ok"},
		"verbose lists the checks": {nil, "/healthz?verbose", 200,
			"[+]ping ok\n[+]etcd ok\nhealthz check passed\n"},
		"a failed check fails the whole, and keeps its reason": {ill, "/readyz", 500,
			"[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"},
		"an excluded check is not asked": {ill, "/readyz?verbose&exclude=etcd", 200,
			"[+]ping ok\n[+]etcd excluded: ok\nreadyz check passed\n"},
		"excluding what is not there is mentioned": {nil, "/livez?verbose&exclude=b&exclude=a&exclude=b", 200,
			"[+]ping ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for \"a\",\"b\"\nlivez check passed\n"},
		"a check can be asked alone":            {nil, "/healthz/etcd", 200, "ok"},
		"asked alone, a check gives its reason": {ill, "/readyz/etcd", 500, "internal server error: the disk is full\n"},
		"there is no check of another name":     {nil, "/readyz/nope", 404, "404 page not found\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newInformed(t, store(tc.store))
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

// A check that hangs must not hang who asks for it.
func TestHealthGivesUpOnACheck(t *testing.T) {
	s := newInformed(t, func(c *Config) {
		c.Ready = []Check{{Name: "etcd", Check: func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				return errors.New("no deadline")
			}
			return nil
		}}}
	})
	s.must(http.StatusOK, s.do("GET", "/readyz", ""))
}
