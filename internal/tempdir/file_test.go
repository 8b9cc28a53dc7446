package tempdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/miniapi/miniapi/internal/tempdir"
)

func TestFilesOfKilledProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config-1")
	_, kill := process(t, path)
	others := []string{filepath.Join(dir, "config-without-lock"), filepath.Join(dir, "other"), filepath.Join(dir, "other.lock")}
	for _, file := range append(others, path) {
		check(t, os.WriteFile(file, nil, 0o600))
	}
	check(t, tempdir.RemoveAbandonedFiles(t.Context(), dir, "config-"))
	if !exists(path) {
		t.Fatal("the file of a running process was removed")
	}
	kill()
	check(t, tempdir.RemoveAbandonedFiles(t.Context(), dir, "config-"))
	if exists(path) || exists(path+".lock") {
		t.Error("the file of a killed process was not removed")
	}
	for _, file := range others {
		if !exists(file) {
			t.Errorf("%s was removed", file)
		}
	}
}

// A process that starts while another one removes the file keeps its own.
func TestClaimedFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	first, err := tempdir.Claim(path)
	check(t, err)
	second, err := tempdir.Claim(path) // as in another container
	check(t, err)
	check(t, os.WriteFile(path, nil, 0o600))
	check(t, second.Remove())
	check(t, first.Remove())
	stop, cleaned := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(cleaned)
		for {
			select {
			case <-stop:
				return
			default:
				_ = tempdir.RemoveAbandonedFiles(t.Context(), filepath.Dir(path), "config")
			}
		}
	}()
	for range 200 {
		file, err := tempdir.Claim(path)
		check(t, err)
		check(t, os.WriteFile(path, nil, 0o600))
		if !exists(path) {
			t.Fatal("a claimed file was removed")
		}
		check(t, file.Remove())
	}
	close(stop)
	<-cleaned
	if exists(path) || exists(path+".lock") {
		t.Error("Remove left a file")
	}
}
