package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvtestPage: what docs/envtest.md shows in Go is in the suites and the
// operator's test, which run themselves.
func TestEnvtestPage(t *testing.T) {
	files, err := filepath.Glob("suite/*/*_test.go")
	check(t, err)
	var suites strings.Builder
	for _, file := range append(files, "operator_test.go") {
		text, err := os.ReadFile(file)
		check(t, err)
		suites.Write(text)
	}
	shown := 0
	for _, block := range readEnvtestPage(t) {
		if block.info != "go" {
			continue
		}
		shown++
		if !strings.Contains(suites.String(), block.text) {
			t.Errorf("in no suite:\n%s", block.text)
		}
	}
	if shown == 0 {
		t.Error("the page shows no Go")
	}
}

// TestEnvtestPageCommands runs the page's commands in the suite that knows
// nothing of miniapi.
func TestEnvtestPageCommands(t *testing.T) {
	dir, err := filepath.Abs("suite/envtest")
	check(t, err)
	for _, block := range readEnvtestPage(t) {
		if block.info != "sh" {
			continue
		}
		script := strings.ReplaceAll(block.text, "./bin/miniapi", t.TempDir())
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+programsDir(t)+string(os.PathListSeparator)+os.Getenv("PATH"), "GOFLAGS=-v -count=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestControllers") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	t.Error("the page has no command")
}

func readEnvtestPage(t *testing.T) []block {
	t.Helper()
	data, err := os.ReadFile("../../docs/envtest.md")
	check(t, err)
	return blocksOf(string(data))
}

func TestEnvtestPageLinksLead(t *testing.T) {
	data, err := os.ReadFile("../../docs/envtest.md")
	check(t, err)
	checkLinks(t, "../../docs", string(data))
}
