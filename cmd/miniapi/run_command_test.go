package main_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestRunCommand(t *testing.T) {
	script := `grep -o 'server: http://127.0.0.1:[0-9]*' "$KUBECONFIG" && "$KUBEBUILDER_ASSETS/kube-apiserver" --version && exit 7`
	out, err := command(t, "run", "--", "sh", "-c", script).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the exit code of the command is lost: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "server: ") || !strings.HasPrefix(lines[1], "Kubernetes v1.") {
		t.Errorf("output:\n%s", out)
	}
}

func TestRunSucceeds(t *testing.T) {
	if out, err := command(t, "run", "--", "true").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// The command creates the ServiceAccount default, in the background.
func TestRunIssuesTokens(t *testing.T) {
	script := `url=$(sed -n 's/.*server: //p' "$KUBECONFIG")/api/v1/namespaces/default/serviceaccounts/default
		until curl -sf -o /dev/null "$url"; do :; done
		curl -s "$url/token" -H 'Content-Type: application/json' -d '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}'`
	out, err := command(t, "run", "--", "sh", "-c", script).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"token":`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestRunInvalid(t *testing.T) {
	for args, want := range map[string]string{
		"":                   "run takes a command after --, such as miniapi run -- go test ./...",
		"true":               "run takes a command after --, such as miniapi run -- go test ./...",
		"--crds x -- true":   "x: no such file or directory",
		"-- no-such-command": `exec: "no-such-command": executable file not found`,
	} {
		lines := failingRun(t, append([]string{"run"}, strings.Fields(args)...)...)
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("run %s: %s", args, strings.Join(lines, "\n"))
		}
	}
}
