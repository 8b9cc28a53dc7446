package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostInfo asks the host of a socket for its process ID.
func hostInfo(socket string) (pid int, err error) {
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	response, err := client.Get("http://host/v1")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var info struct{ PID int }
	return info.PID, json.NewDecoder(response.Body).Decode(&info)
}

func TestHostInTheBackground(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "host.sock")
	start := func() int {
		t.Helper()
		if out, err := command(t, "host", "--background", "--socket", socket).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		pid, err := hostInfo(socket)
		check(t, err)
		return pid
	}
	pid := start()
	if again := start(); again != pid {
		t.Errorf("a second start replaced process %d by %d", pid, again)
	}
	process, err := os.FindProcess(pid)
	check(t, err)
	check(t, process.Signal(os.Interrupt))
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		if _, err := hostInfo(socket); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the host ignores the signal")
		}
	}
	log, err := os.ReadFile(strings.TrimSuffix(socket, ".sock") + ".log")
	if err != nil || !strings.Contains(string(log), "listening on "+socket) {
		t.Errorf("log %s, %v", log, err)
	}
}

func TestHostOnAPort(t *testing.T) {
	tokenFile := filepath.Join(t.TempDir(), "token")
	cmd := command(t, "host", "--listen", "127.0.0.1:0", "--token-file", tokenFile)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	buffer := make([]byte, 200)
	n, err := stdout.Read(buffer)
	check(t, err)
	address := strings.TrimSpace(strings.TrimPrefix(string(buffer[:n]), "miniapi host: listening on "))
	token, err := os.ReadFile(tokenFile)
	check(t, err)
	if info, err := os.Stat(tokenFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file has mode %v, %v", info.Mode(), err)
	}
	for header, want := range map[string]int{
		"":             http.StatusUnauthorized,
		"Bearer wrong": http.StatusUnauthorized,
		"Bearer " + strings.TrimSpace(string(token)): http.StatusOK,
	} {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/v1", nil)
		check(t, err)
		request.Header.Set("Authorization", header)
		response, err := http.DefaultClient.Do(request)
		check(t, err)
		check(t, response.Body.Close())
		if response.StatusCode != want {
			t.Errorf("header %q: %s", header, response.Status)
		}
	}
}

func TestInvalidHostFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	check(t, os.WriteFile(empty, nil, 0o600))
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	for args, want := range map[string]string{
		"--socket " + filepath.Join(empty, "host.sock"): "not a directory: choose a shorter path or another directory with --socket FILE",
		"--socket " + long:     "bind: invalid argument: choose a shorter path or another directory with --socket FILE",
		"--token-file x":       "--token-file is used with --listen only: a unix socket needs no token",
		"--listen 127.0.0.1:0": "--listen needs --token-file, because every local user can reach a port",
		"--listen 127.0.0.1:0 --socket x --token-file x":   "--listen and --socket exclude each other",
		"--listen 127.0.0.1:0 --token-file x --background": "--background is used with a unix socket only",
		"--listen 0.0.0.0:0 --token-file x":                `--listen "0.0.0.0:0" is not on loopback: use 127.0.0.1`,
		"--listen 8080 --token-file x":                     `--listen "8080" is not HOST:PORT, such as 127.0.0.1:0`,
		"--listen 127.0.0.1:0 --token-file " + empty:       "--token-file " + empty + ": it is empty",
		"--max-servers -1":                                 "--max-servers -1 is negative: use 0 for a host without limit",
		"x":                                                `unexpected argument "x"`,
	} {
		lines := failingRun(t, append([]string{"host"}, strings.Fields(args)...)...)
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("host %s: %s", args, strings.Join(lines, "\n"))
		}
	}
}

func TestSecondHostOfASocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "host.sock")
	check(t, command(t, "host", "--background", "--socket", socket).Run())
	lines := failingRun(t, "host", "--socket", socket)
	if len(lines) != 1 || !strings.Contains(lines[0], "another host serves the socket "+socket) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	pid, err := hostInfo(socket)
	check(t, err)
	process, err := os.FindProcess(pid)
	check(t, errors.Join(err, process.Signal(os.Interrupt)))
}
