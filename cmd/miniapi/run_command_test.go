package main_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// A request that waits for a webhook delays the end of the server until its time limit.
func TestRunExitsWithTheCodeOfTheCommandIfTheServerDoesNotStop(t *testing.T) {
	t.Parallel()
	called, release := make(chan struct{}, 1), make(chan struct{})
	webhook := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		called <- struct{}{}
		<-release
	}))
	defer webhook.Close()
	defer close(release)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
	cmd := command(t, "run", "--", "sh", "-c", `cat "$KUBECONFIG"; read line; exit 7`)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	url := ""
	for lines := bufio.NewScanner(stdout); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "server: ")
	}
	answer, err := http.Post(url+"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/json",
		strings.NewReader(fmt.Sprintf(silentWebhook, webhook.URL, base64.StdEncoding.EncodeToString(ca))))
	check(t, err)
	check(t, answer.Body.Close())
	go func() { // ends with the server
		if answer, err := http.Post(url+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(`{"metadata":{"name":"a"}}`)); err == nil {
			_ = answer.Body.Close()
		}
	}()
	<-called
	check(t, stdin.Close())
	_, _ = io.Copy(io.Discard, stdout)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the exit code of the command is lost: %v", err)
	}
	for _, want := range []string{"miniapi: the server stopped while requests were open: ", "miniapi: create: POST /api/v1/namespaces/default/configmaps "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no line %q: %s", want, &stderr)
		}
	}
}

const silentWebhook = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "silent"},
	"webhooks": [{
		"name": "silent.example.com", "clientConfig": {"url": %q, "caBundle": %q}, "timeoutSeconds": 30, "sideEffects": "None", "admissionReviewVersions": ["v1"],
		"rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
	}]
}`

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
