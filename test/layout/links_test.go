package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks checks that the relative links of all documents lead to files, and to headings.
func TestLinks(t *testing.T) {
	links := 0
	forEachFile(t, ".md", func(path string, data []byte) {
		for _, match := range relativeLink.FindAllStringSubmatch(withoutCode(string(data)), -1) {
			links++
			file, heading, hasHeading := strings.Cut(match[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			text, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if hasHeading && !hasAnchor(string(text), heading) {
				t.Errorf("%s: %s has no heading %q", path, target, heading)
			}
		}
	})
	if links == 0 {
		t.Error("no document has a link")
	}
}

// TestLinkReferences checks that each link by a reference, [text][name], has a definition.
func TestLinkReferences(t *testing.T) {
	links := 0
	forEachFile(t, ".md", func(path string, data []byte) {
		page := withoutCode(string(data))
		for _, match := range reference.FindAllStringSubmatch(page, -1) {
			links++
			if !strings.Contains(page, "\n["+match[1]+"]: http") {
				t.Errorf("%s does not define [%s]", path, match[1])
			}
		}
	})
	if links == 0 {
		t.Error("no document has a link by a reference")
	}
}

// TestSite checks that the website and the index of the documentation have all pages.
func TestSite(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"tools/site/mkdocs.yml", "docs/README.md"} {
		text, err := os.ReadFile(filepath.Join(repository, list))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(text), name) {
				t.Errorf("%s does not name %s", list, name)
			}
		}
	}
}

// relativeLink matches a Markdown link or picture whose target is not a URL.
var relativeLink = regexp.MustCompile(`\]\(([^):\s]+)\)`)

// reference matches a link by a reference.
var reference = regexp.MustCompile(`\[[^\]]+\]\[([^\]]+)\]`)

// fence matches a fenced block.
var fence = regexp.MustCompile("(?ms)^```.*?^```$")

func withoutCode(page string) string { return fence.ReplaceAllString(page, "") }

// hasAnchor reports whether a page has a heading with an anchor, named as GitHub names it.
func hasAnchor(page, anchor string) bool {
	for _, line := range strings.Split(withoutCode(page), "\n") {
		if title := strings.TrimLeft(line, "#"); title != line && slug(title) == anchor {
			return true
		}
	}
	return false
}

func slug(title string) string {
	title = strings.ToLower(strings.TrimSpace(title))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(title, ""), " ", "-")
}
