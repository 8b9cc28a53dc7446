//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

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
	cache, err := os.UserCacheDir()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	check(t, cmd.Start())
	interrupt := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	defer interrupt()

	url, kubeconfig := "", ""
	lines := bufio.NewScanner(stdout)
	for kubeconfig == "" && lines.Scan() {
		switch words := strings.Fields(lines.Text()); {
		case len(words) == 2 && words[0] == "URL":
			url = words[1]
		case len(words) == 2 && words[0] == "kubeconfig":
			kubeconfig = words[1]
		}
	}
	name := strings.TrimSuffix(filepath.Base(readmeKubeconfig), "8080") + url[strings.LastIndex(url, ":")+1:]
	if want := filepath.Join(cache, "miniapi", name); kubeconfig != want {
		t.Errorf("the kubeconfig is %s, want %s", kubeconfig, want)
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
