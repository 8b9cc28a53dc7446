// Package cast makes the picture of README.md: a terminal with the commands of scene.go and the
// output that they print.
package cast

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Record runs all parts of the scene and returns the text that a terminal shows. The directory
// programs has miniapi and kubectl; module is the directory of this module.
func Record(programs, module string) (string, error) {
	dir, err := os.MkdirTemp("", "miniapi-cast-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var transcript strings.Builder
	for _, part := range scene {
		cmd := exec.Command("bash")
		if part.server {
			cmd = exec.Command(filepath.Join(programs, "miniapi"), "run", "--", "bash")
		}
		if cmd.Dir = dir; part.dir != "" {
			cmd.Dir = filepath.Join(module, part.dir)
		}
		cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
			"KUBECACHEDIR="+dir, "KUBECTL_KUBERC=false")
		cmd.Stdin = strings.NewReader(script(part.commands))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%v: %w: %s", cmd.Args, err, out)
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
