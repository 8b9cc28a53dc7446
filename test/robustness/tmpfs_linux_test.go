package robustness_test

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// mountTmpfs mounts a small file system until the end of the test. It skips the test if the user
// may not mount.
func mountTmpfs(t *testing.T, dir string, bytes int64) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a full disk needs a small file system, which only root can mount: %v", err)
	}
	t.Cleanup(func() { check(t, unix.Unmount(dir, 0)) })
}
