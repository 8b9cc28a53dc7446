package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/testapi/faults"
)

// TestSameSeedSameLog repeats a sequence of requests with the same faults: each request has the
// same outcome in each run.
func TestSameSeedSameLog(t *testing.T) {
	e := start(t)
	const runs, requests = 100, 40
	run := func() string {
		e.faults.Error(faults.Match{Verbs: []string{"get"}, Probability: 0.3, Seed: 7}, 503)
		e.faults.Error(faults.Match{Resources: []string{"secrets"}, Every: 3, Count: 4}, 500)
		e.faults.Error(faults.Match{Verbs: []string{"list"}, Probability: 0.5, Seed: 8, PerObject: true}, 429)
		e.faults.Compact(faults.Match{Nth: 20})
		defer e.faults.RemoveAll()
		var log strings.Builder
		for i := range requests {
			path := [...]string{"configmaps/a", "secrets/a", "configmaps", "secrets"}[i*7%4]
			code, _ := e.send(http.MethodGet, "/api/v1/namespaces/default/"+path, "")
			fmt.Fprintln(&log, path, code)
		}
		for _, f := range e.faults.List() {
			fmt.Fprintln(&log, f.Counts().Matched, f.Injected(), f.Counts().LastRequest)
		}
		return log.String()
	}
	first := run()
	for i := 1; i < runs; i++ {
		if again := run(); again != first {
			t.Fatalf("run %d:\n%s\nthe first run:\n%s", i+1, again, first)
		}
	}
	for _, code := range []int{http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusTooManyRequests} {
		if !strings.Contains(first, fmt.Sprint(" ", code)) {
			t.Errorf("no request has failed with %d:\n%s", code, first)
		}
	}
}
