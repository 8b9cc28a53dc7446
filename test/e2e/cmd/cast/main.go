// Command cast draws the picture of README.md: see package cast.
//
//	go -C test/e2e run ./cmd/cast >docs/assets/miniapi.svg
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi/test/e2e/cast"
	"github.com/miniapi/miniapi/test/e2e/command"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

func run() error {
	programs, err := os.MkdirTemp("", "miniapi-cast-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	if err := command.Use(programs); err != nil {
		return err
	}
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	module := strings.TrimSpace(string(output))
	kubectl := exec.Command("go", "build", "-C", module, "-o", filepath.Join(programs, "kubectl"), "./cmd/kubectl")
	if out, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("build kubectl: %w: %s", err, out)
	}
	transcript, err := cast.Record(programs, module)
	if err != nil {
		return err
	}
	fmt.Print(cast.Draw(transcript))
	return nil
}
