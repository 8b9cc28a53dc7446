package conformance

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "add differing responses to the lists of differences, and remove lines of responses that no longer differ")

// differences are the known differences from one release: those from all releases, in
// differences.txt, and its own, in differences-RELEASE.txt.
type differences struct {
	release string
	reasons map[string]string // by id
	changed bool
}

const commonDifferences = "differences.txt"

func ownDifferences(release string) string { return "differences-" + release + ".txt" }

func readDifferences(t *testing.T, release string) *differences {
	t.Helper()
	d := &differences{release: release, reasons: map[string]string{}}
	for _, file := range []string{commonDifferences, ownDifferences(release)} {
		data, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if id, reason, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
				d.reasons[id] = reason
			}
		}
	}
	return d
}

// check fails the test for a difference that is not listed, or listed without a
// reason, as -update leaves it.
func (d *differences) check(t *testing.T, id string, found []difference) {
	t.Helper()
	if reason, ok := d.reasons[id]; ok {
		if strings.HasPrefix(reason, "? ") && !*update {
			t.Errorf("%s has no reason in %s", id, ownDifferences(d.release))
		}
		return
	}
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = f.String()
	}
	if *update {
		d.reasons[id] = "? " + strings.ReplaceAll(strings.Join(texts, "; "), "\n", " ")
		d.changed = true
		return
	}
	t.Errorf("%s differs from the recording of %s:\n\t%s", id, d.release, strings.Join(texts, "\n\t"))
}

// emulated returns the number of differing responses that the latest release of kube-apiserver also
// gives, if it emulates this one.
func (d *differences) emulated(differing []string) int {
	n := 0
	for _, id := range differing {
		if strings.HasPrefix(d.reasons[id], "as kube-apiserver v"+latest+" with --emulated-version="+d.release) {
			n++
		}
	}
	return n
}

// stale fails the test for lines which are not needed any more.
func (d *differences) stale(t *testing.T, area string, differing []string) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(d.reasons)) {
		if !strings.HasPrefix(id, area) || slices.Contains(differing, id) {
			continue
		}
		if *update {
			delete(d.reasons, id)
			d.changed = true
			continue
		}
		t.Errorf("%s is as recorded in %s: take its line out of %s or %s", id, d.release, commonDifferences, ownDifferences(d.release))
	}
}

// write rewrites the lists. A line that all releases have is in the common list.
func (d *differences) write(t *testing.T) {
	t.Helper()
	if !*update || !d.changed {
		return
	}
	all := make([]map[string]string, len(releases))
	for i, release := range releases {
		if all[i] = d.reasons; release != d.release {
			all[i] = readDifferences(t, release).reasons
		}
	}
	common := map[string]string{}
	for id, reason := range all[0] {
		if !slices.ContainsFunc(all, func(other map[string]string) bool { return other[id] != reason }) {
			common[id] = reason
		}
	}
	writeDifferences(t, commonDifferences, common)
	for i, release := range releases {
		own := maps.Clone(all[i])
		maps.DeleteFunc(own, func(id, _ string) bool { return common[id] != "" })
		writeDifferences(t, ownDifferences(release), own)
	}
	d.changed = false
}

func writeDifferences(t *testing.T, file string, reasons map[string]string) {
	t.Helper()
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&out, "%s | %s\n", id, reasons[id])
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
