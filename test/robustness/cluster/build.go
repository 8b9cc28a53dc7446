package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Packages with commands of the main module.
const (
	// Miniapi is the command.
	Miniapi = "./cmd/miniapi"
	// ClockServer is a server whose clock can be advanced.
	ClockServer = "./test/clockserver"
)

// Etcd is the package of etcd's command. It is built with the requirements of this module.
const Etcd = "go.etcd.io/etcd/server/v3"

// Build builds a command of the main module, or Etcd, into a file. It builds without the race
// detector, as users run the command. flags are further flags of go build.
func Build(ctx context.Context, file, command string, flags ...string) error {
	dir := "."
	if command != Etcd {
		var err error
		if dir, err = Repository(ctx); err != nil {
			return err
		}
	}
	args := append([]string{"build", "-C", dir, "-race=false", "-o", file}, flags...)
	if out, err := exec.CommandContext(ctx, "go", append(args, command)...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", command, err, out)
	}
	return nil
}

// Repository returns the directory of the main module.
func Repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/miniapi/miniapi").Output()
	if err != nil {
		return "", fmt.Errorf("find the main module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// toolMarker is the environment variable that makes the test binary a program of etcd.
const toolMarker = "MINIAPI_ROBUSTNESS_TOOL"

// Tool returns the name of the program that this process was started as: etcd, etcdctl or etcdutl.
// It is "" for a test.
func Tool() string { return os.Getenv(toolMarker) }

// WriteTools writes scripts with the names of the programs of etcd into a directory. The script of
// etcd runs the given program, "" for the etcd that this program links.
func WriteTools(dir, etcd string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, tool := range []string{"etcd", "etcdctl", "etcdutl"} {
		script := fmt.Sprintf("#!/bin/sh\nexec env %s=%s '%s' \"$@\"\n", toolMarker, tool, self)
		if tool == "etcd" && etcd != "" {
			script = fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", etcd)
		}
		if err := os.WriteFile(filepath.Join(dir, tool), []byte(script), 0o700); err != nil {
			return err
		}
	}
	return nil
}
