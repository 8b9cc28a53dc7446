package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/miniapi/miniapi/api/lifecycle"
)

func TestOpenRequests(t *testing.T) {
	s := newTestServer(t, nil)
	s.configMap("a", "1")
	if open := s.api.OpenRequests(); len(open) > 0 {
		t.Fatalf("an answered request is open: %v", open)
	}
	before := time.Now()
	const pods, maps = "/api/v1/pods?watch=true", "/api/v1/watch/namespaces/default/configmaps"
	for _, uri := range []string{pods, maps} {
		res := s.open("GET", uri, "")
		defer res.Body.Close()
	}
	open := s.api.OpenRequests()
	for i := range open {
		if since := open[i].Since; since.Before(before) || since.After(time.Now()) {
			t.Errorf("request %d is open since %v", i, since)
		}
		open[i].Since = time.Time{}
	}
	if len(open) != 2 ||
		open[0] != (lifecycle.OpenRequest{Verb: "watch", Method: "GET", URI: pods, UserAgent: "test/1.0"}) ||
		open[1] != (lifecycle.OpenRequest{Verb: "watch", Method: "GET", URI: maps, UserAgent: "test/1.0"}) {
		t.Errorf("open: %+v", open)
	}
}

// AwaitIdle returns when the clients of all open requests have closed their connections.
func TestAwaitIdle(t *testing.T) {
	s := newTestServer(t, nil)
	if err := s.api.AwaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := s.open("GET", "/api/v1/pods?watch=true", "")
	second := s.open("GET", "/api/v1/services?watch=true", "")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.api.AwaitIdle(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("two watches are open: %v", err)
	}
	idle := make(chan error)
	for range 2 {
		go func() { idle <- s.api.AwaitIdle(t.Context()) }()
	}
	second.Body.Close()
	first.Body.Close()
	for range 2 {
		if err := <-idle; err != nil {
			t.Error(err)
		}
	}
	if open := s.api.OpenRequests(); len(open) > 0 {
		t.Errorf("open: %v", open)
	}
}
