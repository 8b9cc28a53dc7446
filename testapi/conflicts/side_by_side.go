package conflicts

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
)

// maxCell is the number of bytes of a value that a table shows.
const maxCell = 40

// table returns the lines of a table with the changed fields in the three versions, the names of
// their writers and revisions in the header. Without fields it is empty.
func (c *Conflict) table() []string {
	if len(c.Fields) == 0 {
		return []string{}
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "FIELD\tBASE (%d)\tTHEIRS (%d, %s)\tOURS (%s)\tCHANGED BY\n", c.Base, c.Current, c.Winner.Who(), c.Loser.Who())
	for _, f := range c.Fields {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", f.Path, cell(f.Base), cell(f.Theirs), cell(f.Ours), f.ChangedBy)
	}
	_ = table.Flush() // writes to memory
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// cell returns the beginning of a value, "-" for an absent one.
func cell(value string) string { return cmp.Or(shorten(value, maxCell), "-") }
