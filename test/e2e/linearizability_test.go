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

// What a history is made of. The checker has to find an order of it in time.
const (
	histories = 5
	clients   = 6
	requests  = 80
)

// TestLinearizability checks that reads which ask for the latest state, and all
// writes, are answered as if one came after the other, each between its request
// and its answer: whichever server is asked, and although reads are answered
// from memory.
func TestLinearizability(t *testing.T) {
	inArenas(t, func(t *testing.T, a *arena, source rand.Source) {
		var places [][]configMaps
		for n := range histories { // before anything is disturbed
			places = append(places, a.namespaces(t, fmt.Sprintf("history-%d", n)))
		}
		for _, servers := range places {
			if checkHistory(t, a.record(t, source, servers)); t.Failed() {
				return
			}
		}
	})
}

// record lets clients loose on a new namespace and returns what they did.
func (a *arena) record(t *testing.T, source rand.Source, servers []configMaps) []porcupine.Operation {
	t.Helper()
	began := time.Now()
	running, ctx := errgroup.WithContext(t.Context())
	ticks := make(chan struct{}, clients)
	var historians []*historian
	for id := range clients {
		h := &historian{id: id, servers: servers, lossy: a.lossy, ticks: ticks, began: began, random: random(source)}
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

// checkHistory fails the test if no order explains a history.
func checkHistory(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	began := time.Now()
	result, info := porcupine.CheckOperationsVerbose(consistent, history, patience)
	switch result {
	case porcupine.Ok:
		t.Logf("%d requests, in order after %v: %s", len(history), time.Since(began).Round(time.Millisecond), tally(history))
	case porcupine.Unknown:
		t.Errorf("no order of %d requests was found within %v, which does not say that there is none: make the histories shorter", len(history), patience)
	default:
		t.Errorf("%d requests cannot be put in order: %s\nsee %s", len(history), misfit(history, info), draw(t, info))
	}
}

// tally says how often there was which outcome.
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

// draw returns the name of a file that shows a history.
func draw(t *testing.T, info porcupine.LinearizationInfo) string {
	t.Helper()
	file, err := os.CreateTemp("", "linearizability-*.html")
	check(t, err)
	defer func() { check(t, file.Close()) }()
	check(t, porcupine.Visualize(consistent, info, file))
	return file.Name()
}
