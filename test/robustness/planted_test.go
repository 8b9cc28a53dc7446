package robustness_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/miniapi/miniapi/test/robustness/cluster"
)

// plantedTime is the time within which the suite must find a planted defect.
var plantedTime = flag.Duration("planted", 0, "`time` of the run with each planted defect; 0: only check that the patches apply")

// TestPlanted shows that the suite finds defects: it builds the command with each patch of
// testdata/planted, and a run must report violations.
func TestPlanted(t *testing.T) {
	patches, err := filepath.Glob("testdata/planted/*.patch")
	check(t, err)
	if len(patches) < 10 {
		t.Fatalf("%d patches, want 10", len(patches))
	}
	for _, file := range patches {
		t.Run(filepath.Base(file), func(t *testing.T) {
			p := readPlanted(t, file)
			overlay := p.overlay(t)
			if *plantedTime == 0 {
				return
			}
			s := p.scenario
			s.cluster.Dir, s.cluster.Program = t.TempDir(), filepath.Join(t.TempDir(), "miniapi")
			check(t, cluster.Build(t.Context(), s.cluster.Program, cluster.Miniapi, "-overlay", overlay))
			report, err := execute(t.Context(), s, cmp.Or(*seed, rand.Uint64()), *plantedTime)
			switch {
			case report != nil && len(report.violations) > 0:
				t.Logf("%d violations, the first is %.300v", len(report.violations), report.violations[0])
			case err != nil:
				t.Fatal(err)
			default:
				t.Errorf("the suite does not find the defect\n%s", report)
			}
		})
	}
}

// planted is a patch with a defect.
type planted struct {
	patch []byte
	path  string // of the patched file in the repository
	scenario
}

var (
	scenarioLine = regexp.MustCompile(`(?m)^Scenario: (.*)$`)
	pathLine     = regexp.MustCompile(`(?m)^--- a/(.*)$`)
)

func readPlanted(t *testing.T, file string) planted {
	t.Helper()
	patch, err := os.ReadFile(file)
	check(t, err)
	name, path := scenarioLine.FindSubmatch(patch), pathLine.FindSubmatch(patch)
	if name == nil || path == nil {
		t.Fatalf("%s names no scenario or file", file)
	}
	n := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == string(name[1]) })
	if n < 0 {
		t.Fatalf("no scenario %q", name[1])
	}
	return planted{patch, string(path[1]), scenarios[n]}
}

// overlay patches a copy of the file and returns the overlay for go build.
func (p planted) overlay(t *testing.T) string {
	t.Helper()
	root, err := cluster.Repository(t.Context())
	check(t, err)
	original := filepath.Join(root, p.path)
	data, err := os.ReadFile(original)
	check(t, err)
	dir := t.TempDir()
	patched := filepath.Join(dir, p.path)
	check(t, os.MkdirAll(filepath.Dir(patched), 0o700))
	check(t, os.WriteFile(patched, data, 0o600))
	apply := exec.Command("git", "apply", "--recount", "-")
	apply.Dir, apply.Stdin = dir, bytes.NewReader(p.patch)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("the patch does not apply; adapt it to %s: %v: %s", p.path, err, out)
	}
	if changed, err := os.ReadFile(patched); err != nil || bytes.Equal(changed, data) {
		t.Fatalf("the patch has not changed %s: %v", p.path, err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: patched}})
	check(t, err)
	file := filepath.Join(dir, "overlay.json")
	check(t, os.WriteFile(file, overlay, 0o600))
	return file
}
