package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the path of the miniapi binary.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "miniapi-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "miniapi")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	return m.Run()
}

// timeout limits every wait of a test. No test takes so long, even on a slow machine.
const timeout = 5 * time.Minute

// command returns a command that runs miniapi with a temporary home directory and ends with the
// test.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME=", "KUBECONFIG=")
	return cmd
}

// failingRun runs miniapi, which must exit with code 1, and returns the lines of standard error.
// Standard output must be empty.
func failingRun(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := command(t, args...)
	defer time.AfterFunc(timeout, func() { _ = cmd.Process.Kill() }).Stop() // in case it serves
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err == nil {
		t.Fatalf("miniapi %s succeeded", strings.Join(args, " "))
	}
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit: %v", cmd.ProcessState)
	}
	if stdout.Len() > 0 {
		t.Errorf("output %s", stdout.String())
	}
	return strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
}

// server is a running miniapi.
type server struct {
	t          *testing.T
	cmd        *exec.Cmd
	banner     string
	url        string
	kubeconfig string // from the banner
	stderr     *bytes.Buffer
	wait       func() error // can be called more than once
}

// serve starts miniapi on a free port and reads its banner.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	return serveCommand(t, command(t, append([]string{"--listen", "127.0.0.1:0"}, args...)...))
}

func serveCommand(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	s := &server{t: t, cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr = s.stderr
	check(t, cmd.Start())
	s.wait = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // in case it still runs
		_ = s.wait()
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		s.banner += lines.Text() + "\n"
		switch words := strings.Fields(lines.Text()); {
		case len(words) == 2 && words[0] == "URL":
			s.url = words[1]
		case len(words) == 2 && words[0] == "kubeconfig":
			s.kubeconfig = words[1]
		case strings.Contains(lines.Text(), "Ctrl-C"):
			return s
		}
	}
	_ = s.wait()
	t.Fatalf("miniapi did not start: %s", s.stderr)
	return nil
}

// stop sends a signal and returns the result of Wait.
func (s *server) stop(signal syscall.Signal) error {
	s.t.Helper()
	check(s.t, s.cmd.Process.Signal(signal))
	ended := make(chan error, 1)
	go func() { ended <- s.wait() }() // ends with the process
	select {
	case err := <-ended:
		return err
	case <-time.After(timeout):
		s.t.Fatalf("still running after %v", signal)
		return nil
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
