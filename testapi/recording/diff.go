package recording

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff writes the differences between a recording and its replay as a unified diff for each
// exchange, and returns the number of exchanges that differ. server is the name of the replayed
// side.
func Diff(out io.Writer, recorded, replayed []Exchange, server string) (int, error) {
	differing := 0
	for i := range recorded {
		before, err := recorded[i].text()
		if err != nil {
			return differing, err
		}
		after, err := replayed[i].text()
		if err != nil {
			return differing, err
		}
		if before == after {
			continue
		}
		differing++
		err = difflib.WriteUnifiedDiff(out, difflib.UnifiedDiff{
			FromFile: fmt.Sprintf("recording: exchange %d, %s", i+1, recorded[i].Request),
			ToFile:   server,
			A:        slices.Collect(strings.Lines(before)), B: slices.Collect(strings.Lines(after)), Context: 3,
		})
		if err != nil {
			return differing, err
		}
	}
	return differing, nil
}
