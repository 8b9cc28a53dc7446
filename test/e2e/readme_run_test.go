//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// serverCommand is the first command of the README.
const serverCommand = "go run ./cmd/miniapi"

// TestReadmeServerCommand runs the first command of the README on a free port and stops it with
// SIGINT.
func TestReadmeServerCommand(t *testing.T) {
	text, _ := readReadme(t)
	if !strings.Contains(text, "```sh\n"+serverCommand+"\n```") {
		t.Fatalf("the README has no block %q", serverCommand)
	}
	words := strings.Fields(serverCommand)
	cmd := exec.Command(words[0], append(words[1:], "--listen", "127.0.0.1:0")...)
	cmd.Dir = "../.."
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal signals both go and miniapi
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	check(t, cmd.Start())
	interrupt := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	defer interrupt()

	url := ""
	lines := bufio.NewScanner(stdout)
	for url == "" && lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == "URL" {
			url = words[1]
		}
	}
	resp, err := http.Get(url + "/readyz")
	check(t, err)
	check(t, resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		t.Errorf("readyz: %s", resp.Status)
	}
	http.DefaultClient.CloseIdleConnections()
	interrupt()
	for lines.Scan() { // to the end
	}
	_ = cmd.Wait() // go run reports every Ctrl-C as a failure
	if stderr.Len() > 0 {
		t.Errorf("messages on standard error:\n%s", stderr.String())
	}
}
