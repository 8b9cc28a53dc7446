package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/servertest"
)

// serverCommand is the first command of the README. The server writes its kubeconfig to
// readmeKubeconfig on Linux.
const (
	serverCommand    = "go run ./cmd/miniapi"
	readmeKubeconfig = "~/.cache/miniapi/kubeconfig-127.0.0.1-8080"
)

// block is a fenced block of a page.
type block struct {
	info string // after the opening fence, such as "sh tour"
	text string
}

func readReadme(t *testing.T) (text string, blocks []block) {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	check(t, err)
	return string(data), blocksOf(string(data))
}

// blocksOf returns the fenced blocks of a page.
func blocksOf(page string) (blocks []block) {
	for _, match := range regexp.MustCompile("(?ms)^```(\\S[^\n]*)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, block{match[1], match[2]})
	}
	return blocks
}

// TestReadmeTour runs all commands of the tour against one server and compares their output with
// testdata/readme.txt.
func TestReadmeTour(t *testing.T) {
	golden, err := os.ReadFile("testdata/readme.txt")
	check(t, err)
	text, blocks := readReadme(t)
	for name, path := range map[string]string{"curl": os.Getenv("PATH"), "without curl": pathWithCurl(t)} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("curl"); err != nil && name == "curl" {
				path = pathWithCurl(t)
			}
			got := playTour(t, blocks, path)
			if *update {
				check(t, os.WriteFile("testdata/readme.txt", []byte(got), 0o644))
			}
			if diff := cmp.Diff(string(golden), got); diff != "" {
				t.Error("the tour goes another way (-want +got):\n" + diff)
			}
			for _, answer := range blocks {
				if answer.info == "json" && !strings.Contains(got, strings.TrimSpace(answer.text)) {
					t.Errorf("the output does not contain this part of the README:\n%s", answer.text)
				}
			}
			if failures := strings.Count(got, `"Failure"`); failures != strings.Count(text, `"Failure"`) {
				t.Errorf("%d requests failed:\n%s", failures, got)
			}
		})
	}
}

func playTour(t *testing.T, blocks []block, path string) string {
	t.Helper()
	server := servertest.Start(t, miniapi.Config{TestAPIs: true}) // as on the command line
	sh, masks := newShell(t, server), newVolatile(server)
	sh.env = append(sh.env, "PATH="+programsDir(t)+string(os.PathListSeparator)+path)
	var out strings.Builder
	for _, block := range blocks {
		if block.info != "sh tour" {
			continue
		}
		here := strings.NewReplacer("http://127.0.0.1:8080", server.URL(), readmeKubeconfig, "miniapi.kubeconfig")
		printed, err := sh.run(here.Replace(block.text))
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, block.text, printed)
		}
		out.WriteString("$ " + strings.ReplaceAll(strings.TrimSpace(block.text), "\n", "\n> ") + "\n" + masks.replace(printed) + "\n\n")
	}
	return out.String()
}

// pathWithCurl returns a PATH that starts with the curl of this package.
func pathWithCurl(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	check(t, err)
	check(t, os.Symlink(self, filepath.Join(dir, "curl")))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// TestReadmeTestCommand checks that CI or TestEnvtestPageCommands runs each test command.
func TestReadmeTestCommand(t *testing.T) {
	_, blocks := readReadme(t)
	ci, err := os.ReadFile("../../.ci/run")
	check(t, err)
	lines := strings.Split(string(ci), "\n")
	for _, block := range blocks {
		command := strings.TrimSpace(block.text)
		onPage := slices.Contains(readEnvtestPage(t), block)
		if block.info == "sh" && command != serverCommand && !slices.Contains(lines, command) && !onPage {
			t.Errorf("neither a test nor CI runs %q", command)
		}
	}
}

// TestReadmeExamples checks that the table contains every example in Go, and that each of them has
// a test that compares its output.
func TestReadmeExamples(t *testing.T) {
	text, _ := readReadme(t)
	var named, there []string
	for _, match := range regexp.MustCompile("`go (-C test/e2e )?run \\./(examples/\\w+)`").FindAllStringSubmatch(text, -1) {
		dir := filepath.Join("..", "..", match[2])
		if match[1] != "" {
			dir = match[2]
		}
		named = append(named, dir)
		test, err := os.ReadFile(filepath.Join(dir, "main_test.go"))
		check(t, err)
		if !strings.Contains(string(test), "main()\n\t// ") || !strings.Contains(string(test), "utput:\n") {
			t.Errorf("%s has no test that runs it and compares its output", dir)
		}
	}
	for _, pattern := range []string{"../../examples/*/main.go", "examples/*/main.go"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			there = append(there, filepath.Dir(file))
		}
	}
	slices.Sort(named)
	slices.Sort(there)
	if diff := cmp.Diff(there, named); diff != "" {
		t.Errorf("examples in the folder and in the README (-folder +README):\n%s", diff)
	}
}

func TestReadmeFlags(t *testing.T) {
	text, _ := readReadme(t)
	var help []byte
	for _, args := range [][]string{{"--help"}, {"assets", "--help"}} {
		page, err := exec.CommandContext(t.Context(), filepath.Join(programsDir(t), "miniapi"), args...).CombinedOutput()
		check(t, err)
		help = append(help, page...)
	}
	flags := regexp.MustCompile("`(?:go run ./cmd/miniapi )?(--[a-z-]+)").FindAllStringSubmatch(text, -1)
	if len(flags) == 0 {
		t.Error("no flag in the README")
	}
	for _, flag := range flags {
		if !regexp.MustCompile(regexp.QuoteMeta(flag[1]) + `\b`).Match(help) {
			t.Errorf("miniapi has no flag %s", flag[1])
		}
	}
}

// TestReadmeGoBlocks checks that the Go code in the README is part of a program that runs.
func TestReadmeGoBlocks(t *testing.T) {
	_, blocks := readReadme(t)
	var program []byte
	for _, file := range []string{"readme_example_test.go", "suite/plain/controller_test.go"} {
		data, err := os.ReadFile(file)
		check(t, err)
		program = append(program, data...)
	}
	for _, block := range blocks {
		if block.info == "go" && !strings.Contains(unindented(string(program)), unindented(block.text)) {
			t.Errorf("not in readme_example_test.go:\n%s", block.text)
		}
	}
}

func unindented(text string) string {
	return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(text, "")
}
