package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/miniapi/miniapi/testapi/activity"
	"github.com/miniapi/miniapi/testapi/conflicts"
)

// The numbers of rows that fit on a usual terminal together.
const (
	topClients   = 12
	topWatches   = 12
	topConflicts = 5
)

// top is the activity of a server.
type top struct {
	server    activity.Server
	requests  []activity.Request
	watches   []activity.Watch
	conflicts []conflicts.Conflict // the oldest first
}

func (t *top) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	t.printServer(table)
	t.printClients(table)
	t.printWatches(table)
	t.printConflicts(table)
	return table.Flush()
}

func (t *top) printServer(out io.Writer) {
	s := t.server
	const mebi = 1 << 20
	fmt.Fprintf(out, "miniapi %s, Kubernetes %s\n", s.Version, s.Kubernetes)
	fmt.Fprintf(out, "revision %d, oldest %d; database %.1f MiB, %.1f MiB in use; %s, %d of them watches; %s\n",
		s.Revision, s.Oldest, float64(s.Size)/mebi, float64(s.InUse)/mebi, counted(int(s.Requests), "open request"), s.Watches, counted(len(t.conflicts), "conflict"))
}

// clientRow sums up the requests of a client.
type clientRow struct {
	name                     string
	recent                   int64 // in the last ten seconds
	count, conflicts, errors int64
	slowest                  activity.Example
}

func (t *top) clients() []*clientRow {
	byName := map[string]*clientRow{}
	var rows []*clientRow
	for _, r := range t.requests {
		name := cmp.Or(productOf(r.UserAgent), "unknown")
		row := byName[name]
		if row == nil {
			row = &clientRow{name: name}
			byName[name], rows = row, append(rows, row)
		}
		row.recent += r.LastPeriod
		row.count += r.Count
		row.conflicts += r.Conflicts
		row.errors += r.Errors
		if r.Slowest.Microseconds > row.slowest.Microseconds {
			row.slowest = r.Slowest
		}
	}
	slices.SortStableFunc(rows, func(a, b *clientRow) int {
		return cmp.Or(cmp.Compare(b.recent, a.recent), cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return rows
}

func (t *top) printClients(out io.Writer) {
	rows := t.clients()
	fmt.Fprintln(out, "\nCLIENT\tRATE\tREQUESTS\tCONFLICTS\tERRORS\tSLOWEST\t")
	for _, row := range rows[:min(len(rows), topClients)] {
		duration := time.Duration(row.slowest.Microseconds) * time.Microsecond
		path, _, _ := strings.Cut(row.slowest.URI, "?")
		fmt.Fprintf(out, "%s\t%.1f/s\t%d\t%d\t%d\t%s\t%s %s\n", row.name, float64(row.recent)/10, row.count, row.conflicts, row.errors,
			duration.Round(100*time.Microsecond), row.slowest.Method, path)
	}
	printOmitted(out, len(rows), topClients, "clients")
}

func (t *top) printWatches(out io.Writer) {
	rows := slices.Clone(t.watches)
	slices.SortStableFunc(rows, func(a, b activity.Watch) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Events, a.Events))
	})
	fmt.Fprintln(out, "\nWATCH\tNAMESPACE\tCLIENT\tSENT\tCURRENT\tWAITING\tEVENTS")
	for _, w := range rows[:min(len(rows), topWatches)] {
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", w.Resource, cmp.Or(w.Namespace, "*"), cmp.Or(productOf(w.UserAgent), w.User, "unknown"),
			w.Sent, w.Current, w.Waiting, w.Events)
	}
	printOmitted(out, len(rows), topWatches, "watches")
}

func (t *top) printConflicts(out io.Writer) {
	if len(t.conflicts) == 0 {
		return
	}
	fmt.Fprintln(out, "\nCONFLICT\tLOSER\tWINNER\tFIELDS\tRETRIED")
	for _, c := range slices.Backward(t.conflicts[max(0, len(t.conflicts)-topConflicts):]) {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", c.Object, c.Loser.Who(), c.Winner.Who(),
			cmp.Or(strings.Join(c.Clashing, ","), "-"), c.Retry())
	}
	printOmitted(out, len(t.conflicts), topConflicts, "conflicts")
}

func printOmitted(out io.Writer, rows, shown int, noun string) {
	if rows > shown {
		fmt.Fprintf(out, "and %d more %s\n", rows-shown, noun)
	}
}

// productOf returns the product of a user agent.
func productOf(userAgent string) string {
	product, _, _ := strings.Cut(userAgent, "/")
	return product
}
