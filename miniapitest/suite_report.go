package miniapitest

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// result is the result of an attempt.
type result struct {
	name string
	done bool // the subtest was not filtered out by -run
	// skipped is the reason why the failure cannot occur, "" if it can.
	skipped       string
	known         bool // the failure is one of KnownFailures
	requests      int
	took          time.Duration
	lost, doubled int
	problems      []string
}

func (r *result) survived() bool { return len(r.problems) == 0 }

// outcome returns the result in words.
func (r *result) outcome() string {
	switch {
	case r.skipped != "":
		return "not applicable: " + r.skipped
	case r.survived():
		return "survived"
	case r.known:
		return "known failure: " + r.problems[0]
	}
	return "FAILED: " + r.problems[0]
}

// measured returns the columns with figures.
func (r *result) measured() string {
	if r.skipped != "" {
		return "-\t-\t-\t-"
	}
	converged := "-\t-"
	if r.took > 0 {
		converged = fmt.Sprintf("%d\t%s", r.requests, round(r.took))
	}
	return fmt.Sprintf("%s\t%d\t%d", converged, r.lost, r.doubled)
}

// report logs the table of the attempts.
func (p *suiteRun) report(t *testing.T) {
	t.Helper()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nFAILURE\tREQUESTS\tTOOK\tLOST\tDOUBLED\tRESULT")
	for _, r := range p.results {
		if !r.done {
			continue
		}
		fmt.Fprintf(table, "\n%s\t%s\t%s", r.name, r.measured(), r.outcome())
	}
	_ = table.Flush() // to memory
	t.Logf("miniapitest: the fault suite of %s:%s", t.Name(), indented(text.String()))
}
