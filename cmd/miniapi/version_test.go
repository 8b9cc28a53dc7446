package main_test

import (
	"debug/buildinfo"
	"regexp"
	"strings"
	"testing"
)

// The versions are those that the go command has written into the program.
func TestVersionCommand(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(program)
	check(t, err)
	version, commit := strings.Replace(info.Main.Version, "(devel)", "devel", 1), "unknown"
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += "-modified"
		}
	}
	want := `^miniapi +` + regexp.QuoteMeta(version) + `\ncommit +` + commit +
		`\nKubernetes API +v1\.\d+\.\d+\+miniapi\netcd +v3\.\d+\.\d+\nGo +` + info.GoVersion + ` \w+/\w+\n$`
	out, err := command(t, "version").Output()
	if err != nil || !regexp.MustCompile(want).Match(out) {
		t.Errorf("%v: got\n%swant\n%s", err, out, want)
	}
	out, err = command(t, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "miniapi version "+version+" (Kubernetes API v1.") {
		t.Errorf("%v: %s", err, out)
	}
}
