package upstreamstorage

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/internal/leaktest"
)

// differences lists the cases that fail on purpose.
//
//go:embed differences.txt
var differences string

// childVariable is set in the environment of the process that runs the cases.
const childVariable = "UPSTREAMSTORAGE_CHILD"

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

// TestUpstreamSuite runs the cases in a child process, where they may fail, and
// compares the results with differences.txt.
func TestUpstreamSuite(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		runCases(t)
		return
	}
	expected, err := parseDifferences(differences, slices.Collect(maps.Keys(stores)))
	if err != nil {
		t.Fatal(err)
	}
	results, err := runChild(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases, of which %d differ on purpose", len(results), len(expected))
	for _, problem := range compare(expected, results) {
		t.Error(problem)
	}
}

// stores says of each store whether it is behind a cache.
var stores = map[string]bool{"Etcd": false, "WatchCache": true}

func runCases(t *testing.T) {
	for name, cached := range stores {
		for _, c := range cases(cached) {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				progress := noProgress
				if waitForBookmarks[c.name] {
					progress = shortProgress
				}
				c.run(t.Context(), t, newFixture(t, cached, progress))
			})
		}
	}
}

// runChild returns the results of all cases, by name.
func runChild(t *testing.T) (map[string]*result, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	if deadline, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline)
	}
	defer cancel()
	child := exec.CommandContext(ctx, binary, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=0")
	child.Env = append(os.Environ(), childVariable+"=1")
	output, err := child.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	results, complete := parseResults(string(output), t.Name())
	if strings.Contains(string(output), "goleak: ") {
		return nil, fmt.Errorf("goroutines of the child process are left:\n%s", output)
	}
	if !complete {
		return nil, fmt.Errorf("the child process has not run to its end: %w\n%s", err, output)
	}
	return results, nil
}
