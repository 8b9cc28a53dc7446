// Package command builds the miniapi command for tests that use miniapitest.
package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Use builds the command of this repository into dir and lets miniapitest use it. The sockets of
// its hosts are in dir too. The cache of the go command stays, for programs that use it.
func Use(dir string) error {
	repository, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/miniapi/miniapi").Output()
	if err != nil {
		return fmt.Errorf("find the main module: %w", err)
	}
	binary := filepath.Join(dir, "miniapi")
	if out, err := exec.Command("go", "build", "-C", strings.TrimSpace(string(repository)), "-o", binary, "./cmd/miniapi").CombinedOutput(); err != nil {
		return fmt.Errorf("build miniapi: %w: %s", err, out)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // depends on XDG_CACHE_HOME
	if err != nil {
		return fmt.Errorf("find the build cache: %w", err)
	}
	os.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	os.Setenv("MINIAPI_BIN", binary)
	os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return nil
}

// Run builds the command, runs the tests of a package, and returns their exit code.
func Run(tests interface{ Run() int }) int {
	dir, err := os.MkdirTemp("", "miniapi-e2e-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = Use(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests.Run()
}
