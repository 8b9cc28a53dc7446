//go:build unix

package miniapitest_test

import (
	"bufio"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/miniapi/miniapi/miniapitest"
)

// TestKeepOnFailure presses Ctrl-C after it has used the server of a failed test.
func TestKeepOnFailure(t *testing.T) {
	read, write, err := os.Pipe()
	check(t, err)
	stderr := os.Stderr
	os.Stderr = write
	t.Cleanup(func() { os.Stderr = stderr })
	var server *miniapitest.Server
	ended := make(chan *recorder, 1)
	go func() { // ends with the interrupt
		ended <- runTest(func(t testing.TB) {
			server = miniapitest.Start(t, miniapitest.Options{KeepOnFailure: true})
			t.Errorf("wrong")
		})
	}()
	lines := bufio.NewScanner(read)
	var kubeconfig, page string
	for kubeconfig == "" && lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "page "); found {
			page = address
		}
		_, kubeconfig, _ = strings.Cut(lines.Text(), "export KUBECONFIG=")
	}
	if response, err := http.Get(page); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
		t.Errorf("page %q: %v", page, err)
	}
	if code, body := send(t, server.RESTConfig(), "GET", configMaps, ""); code != 200 {
		t.Errorf("%d: %s", code, body)
	}
	data, err := os.ReadFile(kubeconfig)
	if err != nil || string(data) != string(server.Kubeconfig()) {
		t.Errorf("kubeconfig %s: %v", data, err)
	}
	check(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	if got := <-ended; !got.failed {
		t.Error("the test has not failed")
	}
	if _, err := http.Get(server.URL()); err == nil {
		t.Error("the server answers after the interrupt")
	}
	if _, err := os.Stat(kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig is left behind: %v", err)
	}
}
