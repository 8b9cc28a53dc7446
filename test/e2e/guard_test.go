package e2e_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	watch "github.com/miniapi/miniapi/internal/process"
)

const guardMarker = "MINIAPI_E2E_GUARD"

// beGuardIfAsked never returns in a process with the marker in its environment: it runs the program
// in its arguments, and kills it on SIGTERM, or when its own parent has ended.
func beGuardIfAsked() {
	if os.Getenv(guardMarker) == "" {
		return
	}
	parent := watch.Parent()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	go func() { // ends with the process
		if parent.AwaitEnd(ctx.Done()) {
			stop()
		}
	}()
	program := exec.CommandContext(ctx, os.Args[1], os.Args[2:]...)
	program.Stdout, program.Stderr = os.Stdout, os.Stderr
	if program.Run() != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// A killed test leaves no process of a cluster behind.
func TestProcessesEndWithTheirTest(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	addresses := freeAddresses(t, 2)
	client, peer := addresses[0], addresses[1]
	for name, tc := range map[string]struct{ marker, line string }{
		"etcd": {etcdMarker, "--data-dir " + t.TempDir() + " --listen-client-urls http://" + client + " --advertise-client-urls http://" + client +
			" --listen-peer-urls http://" + peer + " --initial-advertise-peer-urls http://" + peer + " --initial-cluster default=http://" + peer},
		"miniapi": {guardMarker, filepath.Join(programsDir(t), "miniapi") + " --listen 127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The shell takes the place of the test.
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `"$@" & wait`, "sh", self}, strings.Fields(tc.line)...)...)
			cmd.Env = append(os.Environ(), tc.marker+"=1", "HOME="+t.TempDir())
			stdout, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			address := client
			if name == "miniapi" {
				address = bannerAddress(bufio.NewScanner(stdout))
			}
			awaitListener(t, address, true)
			check(t, cmd.Process.Kill())
			_ = cmd.Wait() // reports the kill
			awaitListener(t, address, false)
		})
	}
}

// bannerAddress returns the address in the banner of miniapi, or "".
func bannerAddress(lines *bufio.Scanner) string {
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == "URL" {
			return strings.TrimPrefix(words[1], "http://")
		}
	}
	return ""
}

// awaitListener waits until an address accepts connections, or refuses them.
func awaitListener(t *testing.T, address string, accepts bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) == accepts {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q accepts connections: %v", address, !accepts)
		}
	}
}
