package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sync/errgroup"
)

// The size of a history. The checker must find an order of the requests within its timeout.
const (
	histories = 5
	clients   = 6
	requests  = 80
)

// TestLinearizability checks that consistent reads and writes are linearizable: their responses are
// as if all requests ran one after the other, each between its start and its response, at whichever
// server, although reads are served from memory.
func TestLinearizability(t *testing.T) {
	inArenas(t, func(t *testing.T, a *arena, source rand.Source) {
		var places [][]configMaps
		for n := range histories { // without disturbances
			places = append(places, a.namespaces(t, fmt.Sprintf("history-%d", n)))
		}
		for _, servers := range places {
			if checkHistory(t, a.record(t, source, servers)); t.Failed() {
				return
			}
		}
	})
}

// record runs clients on a new namespace and returns the history of their requests.
func (a *arena) record(t *testing.T, source rand.Source, servers []configMaps) []porcupine.Operation {
	t.Helper()
	began := time.Now()
	running, ctx := errgroup.WithContext(t.Context())
	ticks := make(chan struct{}, clients)
	var historians []*recordingClient
	for id := range clients {
		h := &recordingClient{id: id, servers: servers, lossy: a.lossy, ticks: ticks, began: began, random: random(source)}
		historians = append(historians, h)
		running.Go(func() error { return h.run(ctx, requests) })
	}
	stop := background(t, func(ctx context.Context) error { return a.disturb(ctx, ticks) })
	defer stop()
	check(t, running.Wait())
	var history []porcupine.Operation
	for _, h := range historians {
		history = append(history, h.history...)
	}
	return closed(history)
}

// checkHistory fails the test if a history is not linearizable.
func checkHistory(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	began := time.Now()
	result, info := porcupine.CheckOperationsVerbose(consistent, history, patience)
	switch result {
	case porcupine.Ok:
		t.Logf("%d requests, in order after %v: %s", len(history), time.Since(began).Round(time.Millisecond), tally(history))
	case porcupine.Unknown:
		t.Errorf("the checker did not finish with %d requests within %v: make the histories shorter", len(history), patience)
	default:
		t.Errorf("%d requests cannot be put in order: %s\nsee %s", len(history), misfit(history, info), draw(t, info))
	}
}

// tally counts the outcomes.
func tally(history []porcupine.Operation) string {
	count := map[fate]int{}
	for _, operation := range history {
		count[operation.Output.(output).outcome]++
	}
	return fmt.Sprint(count)
}

// misfit describes the first request that does not fit into the longest order.
func misfit(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	longest := slices.MaxFunc(info.PartialLinearizations()[0], func(a, b []int) int { return len(a) - len(b) })
	first := -1
	for i := range history {
		if !slices.Contains(longest, i) && (first < 0 || history[i].Return < history[first].Return) {
			first = i
		}
	}
	return consistent.DescribeOperation(history[first].Input, history[first].Output)
}

// draw writes a visualization of a history and returns the file name.
func draw(t *testing.T, info porcupine.LinearizationInfo) string {
	t.Helper()
	file, err := os.CreateTemp("", "linearizability-*.html")
	check(t, err)
	defer func() { check(t, file.Close()) }()
	check(t, porcupine.Visualize(consistent, info, file))
	return file.Name()
}
