package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

// All paths of the index exist.
func TestIndex(t *testing.T) {
	s := newStorelessServer(t, nil)
	var index struct{ Paths []string }
	parseJSON(t, s.must(http.StatusOK, s.do("GET", "/", "")).body, &index)
	if !slices.IsSorted(index.Paths) {
		t.Errorf("the index is not sorted: %v", index.Paths)
	}
	for _, path := range []string{"/api/v1", "/apis/apps/v1", "/apis/autoscaling", "/healthz/ping", "/metrics", "/openapi/v3", "/readyz", "/version"} {
		if !slices.Contains(index.Paths, path) {
			t.Errorf("the index lacks %s", path)
		}
	}
	for _, path := range index.Paths {
		s.must(http.StatusOK, s.do("GET", path, ""))
	}
}

func TestVersion(t *testing.T) {
	s := newStorelessServer(t, nil)
	for _, path := range []string{"/version", "/version/"} {
		r := s.must(http.StatusOK, s.do("GET", path, ""))
		var got version.Info
		parseJSON(t, r.body, &got)
		if got.GitVersion != "v1.37.1" || got.Major != "1" || got.Minor != "37" {
			t.Errorf("%s: %s", path, r.body)
		}
		if !strings.HasPrefix(r.body, "{\n  \"major\": \"1\",") {
			t.Errorf("%s is not indented: %s", path, r.body)
		}
	}
	for _, method := range []string{"PUT", "PATCH", "OPTIONS"} {
		s.must(http.StatusMethodNotAllowed, s.do(method, "/version", ""))
	}
}
