package layout_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxColumns is the length at which lines of comments and of documents end. A tab counts 4.
const maxColumns = 100

// avoided matches words for which CONTRIBUTING.md has a plain term.
var avoided = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|wants|tells|settles?|settled|glances?|strays|such a one)\b`)

// apiNames matches names of the API that avoided would match.
var apiNames = regexp.MustCompile(`\bSettle\b|/settle\b`)

// maxWhat bounds how often the word "what" stands in 1,000 words of comments: it mostly stands in
// the place of a noun.
const maxWhat = 3

// TestComments checks the comments of all Go files that are not generated.
func TestComments(t *testing.T) {
	words, whats := 0, 0
	forEachFile(t, ".go", func(path string, data []byte) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, group := range file.Comments {
			if expectedOutput.MatchString(group.List[0].Text) {
				continue
			}
			for _, comment := range group.List {
				if directive.MatchString(comment.Text) {
					continue
				}
				line := set.Position(comment.Pos()).Line
				place := fmt.Sprintf("%s:%d", path, line)
				if strings.HasPrefix(strings.TrimSpace(lines[line-1]), "//") { // not behind code
					checkColumns(t, place, lines[line-1])
				}
				checkWords(t, place, comment.Text)
				fields := strings.FieldsFunc(strings.ToLower(comment.Text), isNoLetter)
				words += len(fields)
				for _, word := range fields {
					if word == "what" {
						whats++
					}
				}
			}
		}
	})
	if whats*1000 > maxWhat*words {
		t.Errorf("%d of %d words in comments are \"what\": name the noun", whats, words)
	}
}

// TestDocuments checks the prose of the documents: not tables, code, pictures and links.
func TestDocuments(t *testing.T) {
	forEachFile(t, ".md", func(path string, data []byte) {
		inCode := false
		for i, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				inCode = !inCode
			}
			if inCode || strings.HasPrefix(line, "|") || strings.Contains(line, "](") {
				continue
			}
			checkColumns(t, fmt.Sprintf("%s:%d", path, i+1), line)
			checkWords(t, fmt.Sprintf("%s:%d", path, i+1), line)
		}
	})
}

// checkColumns checks the length of a line. A URL cannot be broken.
func checkColumns(t *testing.T, place, line string) {
	t.Helper()
	columns := len([]rune(strings.ReplaceAll(line, "\t", "    ")))
	if columns > maxColumns && !strings.Contains(line, "://") {
		t.Errorf("%s has %d columns, more than %d", place, columns, maxColumns)
	}
}

func checkWords(t *testing.T, place, text string) {
	t.Helper()
	if word := avoided.FindString(apiNames.ReplaceAllString(text, "")); word != "" {
		t.Errorf("%s: %q: use the plain term (see CONTRIBUTING.md)", place, word)
	}
}

// expectedOutput matches the comment of an example, whose text is not ours to choose.
var expectedOutput = regexp.MustCompile(`^// (Unordered o|O)utput:`)

// directive matches comments that are instructions to tools, such as //go:generate.
var directive = regexp.MustCompile(`^//[a-z]+:`)

func isNoLetter(r rune) bool { return r < 'a' || r > 'z' }

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// forEachFile calls check with each file of the repository whose name has the extension, but not
// with generated files and test data.
func forEachFile(t *testing.T, extension string, check func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != extension:
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && !generated.Match(data) {
			check(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
