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

// program is miniapi as it is installed.
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

// patience bounds what a test waits for; one that passes does not use it up.
const patience = 30 * time.Second

// command returns miniapi with a home of its own, which ends with the test.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME=", "KUBECONFIG=")
	return cmd
}

// refused runs miniapi to its end, which must be a failure, and returns the
// lines of its complaint. Nothing else may be printed.
func refused(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := command(t, args...)
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop() // it serves
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err == nil {
		t.Fatalf("miniapi %s was not refused", strings.Join(args, " "))
	}
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v", cmd.ProcessState)
	}
	if stdout.Len() > 0 {
		t.Errorf("printed %s", stdout.String())
	}
	return strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
}

// server is a running miniapi.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	banner string
	url    string
	// kubeconfig is where the banner says it is.
	kubeconfig string
	stderr     *bytes.Buffer
	end        func() error // waits, once
}

// serve starts miniapi on a free port and reads what it prints.
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
	s.end = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // in case it still runs
		_ = s.end()
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
	_ = s.end()
	t.Fatalf("miniapi did not start: %s", s.stderr)
	return nil
}

// stop sends a signal and returns how miniapi ended.
func (s *server) stop(signal syscall.Signal) error {
	s.t.Helper()
	check(s.t, s.cmd.Process.Signal(signal))
	ended := make(chan error, 1)
	go func() { ended <- s.end() }() // ends with the process
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
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
