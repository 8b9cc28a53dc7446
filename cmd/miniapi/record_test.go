package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecordExitsWithTheCodeOfTheCommandAndWritesTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "golden.yaml")
	out, err := command(t, "record", file, "--", "sh", "-c", `grep -o 'server: http://127.0.0.1:[0-9]*' "$KUBECONFIG"; exit 7`).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 || !strings.HasPrefix(string(out), "server: ") {
		t.Errorf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(string(text), "\nrecording: 1\n") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestReplayExitCodes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	dir := t.TempDir()
	const missing = "recording: 1\n---\nrequest: GET /api/v1/namespaces/default/pods/a\ncode: "
	check(t, os.WriteFile(filepath.Join(dir, "differs.yaml"), []byte(missing+"200\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "other.yaml"), []byte("kind: Pod\n"), 0o600))
	for _, tc := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"a difference", "-code: 200\n+code: 404\n", 1, []string{"differs.yaml", "--server", s.url}},
		{"no server", "exchange 1, GET /api/v1/namespaces/default/pods/a: ", 2, []string{"differs.yaml", "--server", "http://127.0.0.1:1"}},
		{"another file", `other.yaml is not a recording: it does not begin with the line "recording: 1"`, 2, []string{"other.yaml"}},
		{"no file", "absent.yaml", 2, []string{"absent.yaml"}},
		{"no argument", "replay takes a file of miniapi record", 2, nil},
		{"a negative time", "--timeout -1s: it must be positive", 2, []string{"differs.yaml", "--timeout", "-1s"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, append([]string{"replay"}, tc.args...)...)
			cmd.Dir = dir
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != tc.code || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%v: %s", err, &out)
			}
		})
	}
}
