package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var directDependency = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// TestDirectDependencies checks that docs/design.md gives a reason for each direct dependency of
// go.mod, and for no other module.
func TestDirectDependencies(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	design, err := os.ReadFile(filepath.Join(repository, "docs/design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(design), "\n## Direct dependencies\n")
	if !ok {
		t.Fatal("docs/design.md has no table of dependencies")
	}
	found := directDependency.FindAllStringSubmatch(string(mod), -1)
	if len(found) == 0 {
		t.Fatal("go.mod lists no dependency")
	}
	for _, dependency := range found {
		if !strings.Contains(table, "`"+dependency[1]+"`") {
			t.Errorf("docs/design.md has no reason for %s", dependency[1])
		}
	}
	for _, named := range regexp.MustCompile("`([a-z0-9-]+\\.[a-z]+/[^`]+)`").FindAllStringSubmatch(table, -1) {
		if !strings.Contains(string(mod), "\t"+named[1]+" v") {
			t.Errorf("docs/design.md has a reason for %s, which is not in go.mod", named[1])
		}
	}
}
