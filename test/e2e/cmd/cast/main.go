// Command cast runs the commands of scene.go with a real server and draws them with their output as
// a terminal, in SVG: the picture of README.md.
//
//	go -C test/e2e run ./cmd/cast >docs/assets/miniapi.svg
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/miniapi/miniapi/test/e2e/command"
)

func main() {
	transcript, err := record()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
	fmt.Print(draw(transcript))
}

// record runs all parts of the scene and returns what a terminal shows.
func record() (string, error) {
	dir, err := os.MkdirTemp("", "miniapi-cast-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := command.Use(dir); err != nil {
		return "", err
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	root := strings.TrimSpace(string(module))
	if out, err := exec.Command("go", "build", "-C", root, "-o", filepath.Join(dir, "kubectl"), "-race=false", "./cmd/kubectl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kubectl: %w: %s", err, out)
	}
	var transcript strings.Builder
	for _, part := range scene {
		cmd := exec.Command(part.shell[0], part.shell[1:]...)
		if cmd.Dir = dir; part.dir != "" {
			cmd.Dir = filepath.Join(root, part.dir)
		}
		cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"),
			"KUBECACHEDIR="+dir, "KUBECTL_KUBERC=false")
		if cmd.Err != nil { // found in the PATH of the command only
			cmd.Path, cmd.Err = filepath.Join(dir, part.shell[0]), nil
		}
		cmd.Stdin = strings.NewReader(script(part.commands))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%v: %w: %s", part.shell, err, out)
		}
		transcript.WriteString(part.opening + string(out) + part.ending)
	}
	return transcript.String(), nil
}

// script returns a shell script that prints each command before it runs the command.
func script(commands []string) string {
	script := "exec 2>&1\n"
	for _, command := range commands {
		script += "printf '%s\\n' '$ " + strings.ReplaceAll(command, "'", `'\''`) + "'\n" + command + "\n"
	}
	return script + "exit 0\n"
}
