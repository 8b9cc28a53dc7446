package tempdir_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/internal/tempdir"
)

const (
	childEnv = "TEMPDIR_TEST_CHILD" // newDir, or the path of a file to claim
	newDir   = "new"
)

// TestMain is also the main function of the process that a test kills.
func TestMain(m *testing.M) {
	var err error
	switch claimed := os.Getenv(childEnv); claimed {
	case "":
		os.Exit(m.Run())
	case newDir:
		var dir *tempdir.Dir
		if dir, err = tempdir.New("killed"); err == nil {
			_, err = os.Stdout.WriteString(dir.Path() + "\n")
		}
	default:
		if _, err = tempdir.Claim(claimed); err == nil {
			_, err = os.Stdout.WriteString(claimed + "\n")
		}
	}
	if err != nil {
		panic(err)
	}
	select {}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// process starts a process with a new directory, or a claimed file. It returns the path and a
// function that kills the process.
func process(t *testing.T, claimed string) (path string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+claimed)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	line := make([]byte, 1024)
	n, err := out.Read(line)
	check(t, err)
	return strings.TrimSpace(string(line[:n])), func() {
		check(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestDirectoriesOfKilledProcessesAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, kill := process(t, newDir)
	check(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	check(t, tempdir.RemoveAbandoned(t.Context()))
	if !exists(dir) {
		t.Fatal("the directory of a running process was removed")
	}
	kill()
	check(t, tempdir.RemoveAbandoned(t.Context()))
	if exists(dir) {
		t.Error("the directory of a killed process was not removed")
	}
}

func TestOtherDirectoriesStay(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	own, err := tempdir.New("own")
	check(t, err)
	paths := []string{own.Path(), filepath.Join(temp, "miniapi-no-lock"), filepath.Join(temp, "other"), filepath.Join(temp, "miniapi-file"), filepath.Join(temp, "miniapi-link")}
	check(t, os.Mkdir(paths[1], 0o700))
	check(t, os.Mkdir(paths[2], 0o700))
	check(t, os.WriteFile(filepath.Join(paths[2], "miniapi.lock"), nil, 0o600))
	check(t, os.WriteFile(paths[3], nil, 0o600))
	check(t, os.Symlink(paths[2], paths[4]))
	check(t, tempdir.RemoveAbandoned(t.Context()))
	for _, path := range paths {
		if !exists(path) {
			t.Errorf("%s was removed", path)
		}
	}
	check(t, own.Remove())
	if exists(own.Path()) {
		t.Error("Remove left the directory")
	}
}

func TestRemoveAbandonedEndsWithItsContext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, kill := process(t, newDir)
	kill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check(t, tempdir.RemoveAbandoned(ctx))
	if !exists(dir) {
		t.Error("a directory was removed after the end of the context")
	}
}

// New and RemoveAbandoned of many goroutines never remove a directory in use.
func TestConcurrentUse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stop := make(chan struct{})
	cleaned := make(chan struct{})
	go func() { // ends with stop
		defer close(cleaned)
		for {
			select {
			case <-stop:
				return
			default:
				_ = tempdir.RemoveAbandoned(context.Background())
			}
		}
	}()
	for range 200 {
		dir, err := tempdir.New("busy")
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir.Path(), "file"), nil, 0o600))
		check(t, dir.Remove())
	}
	close(stop)
	<-cleaned
}
