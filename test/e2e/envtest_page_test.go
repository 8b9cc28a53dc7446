package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvtestPage checks that the Go code in docs/envtest.md is part of the suites and the operator
// test, which run on their own.
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
			t.Errorf("not part of any suite:\n%s", block.text)
		}
	}
	if shown == 0 {
		t.Error("the page shows no Go")
	}
}

// TestEnvtestPageCommands runs the commands of the page in the suite without references to miniapi.
func TestEnvtestPageCommands(t *testing.T) {
	suite, err := filepath.Abs("suite/envtest")
	check(t, err)
	assets, tools := t.TempDir(), t.TempDir()
	check(t, buildSetupEnvtest(tools))
	path := strings.Join([]string{programsDir(t), tools, os.Getenv("PATH")}, string(os.PathListSeparator))
	shown := 0
	for _, block := range readEnvtestPage(t) {
		if block.info != "sh" {
			continue
		}
		shown++
		script := strings.ReplaceAll(block.text, "./bin/miniapi", assets)
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
		cmd.Dir = suite
		cmd.Env = append(os.Environ(), "PATH="+path, "GOFLAGS=-v -count=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestControllers") {
			t.Errorf("%s%v: %s", script, err, out)
		}
	}
	if shown != 3 {
		t.Errorf("the page has %d commands", shown)
	}
}

func readEnvtestPage(t *testing.T) []block {
	t.Helper()
	data, err := os.ReadFile("../../docs/envtest.md")
	check(t, err)
	return blocksOf(string(data))
}
