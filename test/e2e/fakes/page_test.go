package fakes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage checks that docs/from-fakes.md lists the tests of this package.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/from-fakes.md")
	check(t, err)
	var listed, written []string
	for _, match := range regexp.MustCompile("\\| `(Test\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, match[1])
	}
	files, err := filepath.Glob("*_test.go")
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		for _, match := range regexp.MustCompile(`func (Test\w+)\(t \*testing\.T\) \{\n\t(clientGo|controllerRuntime)\(`).FindAllStringSubmatch(string(text), -1) {
			written = append(written, match[1])
		}
	}
	slices.Sort(listed)
	slices.Sort(written)
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("tests here and on the page (-here +page):\n%s", diff)
	}
}
