package miniapitest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain builds the miniapi command of this repository and lets the tests use it. Its host
// ends soon after the tests.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if version := os.Getenv(buildingVersion); version != "" {
		return printBinary(version)
	}
	dir, err := os.MkdirTemp("", "miniapitest-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "miniapi.exe")
	build := exec.Command("go", "build", "-C", "..", "-o", binary, "./cmd/miniapi")
	if output, err := build.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("%w: %s", err, output))
	}
	os.Setenv("MINIAPI_BIN", binary)
	os.Setenv("XDG_CACHE_HOME", dir) // sockets and logs
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
