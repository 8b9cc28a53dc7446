package openapi

import (
	"bytes"
	"compress/gzip"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The definitions are generated from the module versions in go.mod. After an update, change the
// versions in gen/go.mod and run go generate in this directory.
func TestDefinitionsAreUpToDate(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Split(r.Comment, ", ")
	if len(modules) != 4 {
		t.Fatalf("the file names %q, want four modules", modules)
	}
	for _, module := range modules {
		if !regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + `\b`).Match(mod) {
			t.Errorf("definitions are generated from %s, go.mod has another version", module)
		}
	}
}

func TestReferencesOfDefinitionsResolve(t *testing.T) {
	all, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	references := regexp.MustCompile(`"\$ref":"#/(?:definitions|components/schemas)/([^"]+)"`)
	for name, d := range all {
		for _, body := range [][]byte{d.V2, d.V3} {
			for _, match := range references.FindAllSubmatch(body, -1) {
				if _, ok := all[string(match[1])]; !ok {
					t.Errorf("%s references %s, which is not defined", name, match[1])
				}
			}
		}
	}
}
