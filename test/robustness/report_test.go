package robustness_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/miniapi/miniapi/test/robustness/fault"
	"github.com/miniapi/miniapi/test/robustness/traffic"
	"github.com/miniapi/miniapi/test/robustness/verify"
)

// report is the result of a scenario.
type report struct {
	name       string
	recoveries map[string][]time.Duration // by the kind of fault
	reads      int
	outcomes   map[traffic.Outcome]int // of writes
	lists      int
	events     int
	violations []error
	// Times from the last write until the watches, and then the informers, had all events.
	watchesComplete, informersComplete time.Duration
	watches                            string // open watches after a violation of the caches
}

func newReport(name string) *report {
	return &report{name: name, recoveries: map[string][]time.Duration{}, outcomes: map[traffic.Outcome]int{}}
}

// recovered adds a fault and the time that the servers took to recover from it.
func (r *report) recovered(f fault.Fault, after time.Duration) {
	r.recoveries[fault.Name(f)] = append(r.recoveries[fault.Name(f)], after)
}

func (r *report) count(record verify.Record) {
	for _, o := range record.Operations {
		if o.Writes() {
			r.outcomes[o.Outcome]++
		} else {
			r.reads++
		}
	}
	r.lists = len(record.Lists)
	for _, w := range record.Watches {
		for _, s := range w.Sessions {
			r.events += len(s.Events)
		}
	}
}

// faults returns the number of faults.
func (r *report) faults() (total int) {
	for _, recoveries := range r.recoveries {
		total += len(recoveries)
	}
	return total
}

// maxViolations is the number of violations in a report.
const maxViolations = 10

// String returns the report as a table.
func (r *report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d faults; %d writes acknowledged, %d refused, %d of unknown outcome; %d reads, %d lists, %d events; %d violations\n",
		r.name, r.faults(), r.outcomes[traffic.OK], r.outcomes[traffic.Refused], r.outcomes[traffic.Unknown],
		r.reads, r.lists, r.events, len(r.violations))
	fmt.Fprintf(&text, "after the last write the watches were complete in %v, the informers in %v\n",
		r.watchesComplete.Round(time.Millisecond), r.informersComplete.Round(time.Millisecond))
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "fault\tcount\trecovery, median\tmaximum\t")
	for _, kind := range slices.Sorted(maps.Keys(r.recoveries)) {
		times := slices.Sorted(slices.Values(r.recoveries[kind]))
		fmt.Fprintf(table, "%s\t%d\t%v\t%v\t\n", kind, len(times),
			times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	}
	table.Flush()
	for n, violation := range r.violations {
		if n == maxViolations {
			fmt.Fprintf(&text, "and %d more\n", len(r.violations)-n)
			break
		}
		fmt.Fprintf(&text, "violation: %.2000v\n", violation)
	}
	text.WriteString(r.watches)
	return text.String()
}
