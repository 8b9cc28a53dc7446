package miniapitest

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// maxConflicts is the maximum number of conflicts in the report of a failed test.
const maxConflicts = 20

// conflictTable returns a line for each of the last conflicts, "" if there are none.
func conflictTable(conflicts []Conflict) string {
	if len(conflicts) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\nIts conflicts:")
	if more := len(conflicts) - maxConflicts; more > 0 {
		fmt.Fprintf(&text, " %d earlier ones, and", more)
		conflicts = conflicts[more:]
	}
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\nTIME\tOBJECT\tLOSER\tWINNER\tFIELDS\tRETRIED")
	for _, c := range conflicts {
		fmt.Fprintf(table, "\n%s\t%s\t%s\t%s\t%s\t%s", c.Time.Local().Format("15:04:05.000"), c.Object,
			c.Loser.who(), c.Winner.who(), first(strings.Join(c.Clashing, ","), "<none>"), c.retry())
	}
	_ = table.Flush() // to memory
	head, lines, _ := strings.Cut(text.String()[1:], "\n")
	return "\n" + head + indented("\n"+lines)
}

// String returns the object as kubectl names it.
func (o ConflictObject) String() string {
	text := o.Resource
	if o.Subresource != "" {
		text += "/" + o.Subresource
	}
	if o.Namespace != "" {
		return text + " " + o.Namespace + "/" + o.Name
	}
	return text + " " + o.Name
}

// who returns the field manager, the product of the user agent, or the user.
func (w ConflictWrite) who() string {
	product, _, _ := strings.Cut(w.UserAgent, "/")
	return first(w.FieldManager, product, w.User, "unknown")
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// retry returns whether the loser tried again, in words.
func (c Conflict) retry() string {
	switch {
	case c.SucceededAfter > 0:
		return fmt.Sprintf("succeeded at try %d", c.SucceededAfter)
	case c.Retried:
		return "lost again"
	}
	return "no"
}
