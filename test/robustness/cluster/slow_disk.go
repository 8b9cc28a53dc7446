package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// slowDiskMarker is the environment variable with the file that SlowDisk writes.
const slowDiskMarker = "MINIAPI_ROBUSTNESS_SLOW_DISK"

// delaySync is added to the files that sync data to the disk.
const delaySync = `
func delaySync() {
	if text, err := os.ReadFile(os.Getenv("` + slowDiskMarker + `")); err == nil {
		if delay, err := time.ParseDuration(string(text)); err == nil {
			time.Sleep(delay)
		}
	}
}
`

// synced are the files in which etcd syncs its log and its database, by module. They are for Linux.
var synced = map[string]string{
	"go.etcd.io/etcd/client/pkg/v3": "fileutil/sync_linux.go",
	"go.etcd.io/bbolt":              "bolt_linux.go",
}

// SlowDiskFlags returns the flags with which Build builds a command whose disk can be slow. dir
// receives patched copies of modules.
func SlowDiskFlags(ctx context.Context, dir string) ([]string, error) {
	root, err := Repository(ctx)
	if err != nil {
		return nil, err
	}
	requirements, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	for module, name := range synced {
		out, err := exec.CommandContext(ctx, "go", "-C", root, "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", module, err)
		}
		original, patched := strings.TrimSpace(string(out)), filepath.Join(dir, filepath.Base(module))
		if err := os.CopyFS(patched, os.DirFS(original)); err != nil {
			return nil, err
		}
		if err := patchSync(filepath.Join(original, name), filepath.Join(patched, name)); err != nil {
			return nil, err
		}
		requirements = fmt.Appendf(requirements, "\nreplace %s => %s\n", module, patched)
	}
	file := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		return nil, err
	}
	return []string{"-modfile", file}, os.WriteFile(file, requirements, 0o600)
}

// patchSync writes a copy of a file in which a sync waits before it begins.
func patchSync(original, patched string) error {
	data, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	const sync, imports = "\treturn syscall.Fdatasync(", "import (\n"
	text := string(data)
	if strings.Count(text, sync) != 1 || strings.Count(text, imports) != 1 {
		return fmt.Errorf("%s has changed: adapt the patch", original)
	}
	added := imports + "\t\"time\"\n"
	if !strings.Contains(text, "\t\"os\"\n") {
		added += "\t\"os\"\n"
	}
	text = strings.Replace(text, imports, added, 1)
	text = strings.Replace(text, sync, "\tdelaySync()\n"+sync, 1) + delaySync
	if err := os.Remove(patched); err != nil { // the copy is read-only
		return err
	}
	return os.WriteFile(patched, []byte(text), 0o600)
}

// SlowDisk delays each sync of the log and of the database of a server with an embedded etcd. The
// server must be built with SlowDiskFlags. The returned function ends the delay.
func (s *Server) SlowDisk(delay time.Duration) (end func() error, err error) {
	return func() error { return os.Remove(s.slowDisk) }, os.WriteFile(s.slowDisk, []byte(delay.String()), 0o600)
}
