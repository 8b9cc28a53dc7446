//go:build unix

package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a named pipe blocks until a process writes to it.
func TestReadRejectsPipes(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": "kind: A"})
	pipe := filepath.Join(dir, "b.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), pipe+" is not a regular file") {
		t.Errorf("got %v", err)
	}
	if err := os.Rename(pipe, filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err != nil {
		t.Errorf("a pipe without the extension of a manifest: %v", err)
	}
}
