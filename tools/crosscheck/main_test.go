package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":          "module example.com/m\n\ngo 1.26\n",
		"m.go":            "package m\n\nimport \"strings\"\n\nvar Upper = strings.ToUpper\n",
		"m_test.go":       "package m\n\nimport (\n\t\"syscall\"\n\t\"testing\"\n)\n\nfunc Test(t *testing.T) { t.Log(syscall.Mkfifo) }\n",
		"only_windows.go": "package m\n\nvar Wrong int = \"text\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string][]string{
		"linux/amd64":   nil,
		"darwin/arm64":  nil,
		"windows/amd64": {"only_windows.go:3:17: ", "m_test.go:8:41: undefined: syscall.Mkfifo"},
	} {
		problems, err := check(dir, platform)
		if err != nil || len(problems) != len(want) {
			t.Errorf("%s: %q, %v, want %q", platform, problems, err, want)
			continue
		}
		for i := range want {
			if !strings.Contains(problems[i], want[i]) {
				t.Errorf("%s: %s, want %s", platform, problems[i], want[i])
			}
		}
	}
	if _, err := check(dir, "windows"); err == nil {
		t.Error("a platform without an architecture is accepted")
	}
}
