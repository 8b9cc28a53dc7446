package main_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Files with keys, tokens and data are readable by their owner only, whatever the umask is. The
// certificates are readable by all, but their directory is not.
func TestFileModes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmd := command(t)
	cmd.Path, cmd.Args = shell(t), append([]string{"sh", "-c", `umask 0; exec "$0" "$@"`, program},
		"--secure-port", "0", "--cert-dir", filepath.Join(root, "certs"), "--data-dir", filepath.Join(root, "data"))
	cmd.Env = append(cmd.Env, "HOME="+filepath.Join(root, "home"), "TMPDIR="+root)
	s := serveCommand(t, cmd)
	files := 0
	check(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		if public := filepath.Ext(path) == ".crt"; info.Mode().Perm()&0o077 != 0 && !public {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	}))
	if files < 6 {
		t.Errorf("found only %d files and directories", files)
	}
	check(t, s.stop(syscall.SIGTERM))
}

func shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	check(t, err)
	return path
}
