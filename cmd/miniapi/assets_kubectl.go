package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/miniapi/miniapi/internal/tempdir"
)

// kubectlMain is the source of kubectl: a main function around its library. The library is not
// linked into miniapi, since that would triple its start time.
const kubectlMain = `package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
`

// writeKubectl links to a kubectl or builds one, and prints a note with its version. It keeps an
// existing kubectl unless another one is given. If there is none and none can be built, the note
// says so.
func (a *assets) writeKubectl(ctx context.Context) error {
	path := a.path("kubectl")
	if err := a.provideKubectl(ctx, path); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		fmt.Fprintf(a.notes, "miniapi: kubectl %s: %s\n", kubectlVersion(ctx, target), target)
	}
	return ctx.Err()
}

func (a *assets) provideKubectl(ctx context.Context, path string) error {
	if a.givenKubectl != "" {
		return linkTo(a.givenKubectl, path)
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if found, err := exec.LookPath("kubectl"); err == nil {
		return linkTo(found, path)
	}
	if err := a.buildKubectl(ctx, path); err != nil {
		fmt.Fprintf(a.notes, "miniapi: no kubectl: %v: set --kubectl FILE if the tests use envtest's KubeCtl or DownloadBinaryAssets\n", err)
	}
	return nil
}

// kubectlTimeout is how long kubectl may take to print its version.
const kubectlTimeout = 10 * time.Second

var releaseVersion = regexp.MustCompile(`v\d+\.\d+\.\d+[^\s",]*`)

// kubectlVersion returns the version that a kubectl prints.
func kubectlVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, kubectlTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version", "--client").Output()
	if version := releaseVersion.Find(out); err == nil && version != nil {
		return string(version)
	}
	return "of unknown version"
}

// linkTo replaces path by a symbolic link to the target of file, or by a copy if this user may not
// create one, as on Windows.
func linkTo(file, path string) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	if target, err = filepath.Abs(target); err != nil || target == path {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Symlink(target, path) == nil {
		return nil
	}
	return replaceWith(path, target)
}

// buildKubectl builds the release of kubectl that matches the served API.
func (a *assets) buildKubectl(ctx context.Context, path string) error {
	version := apiVersion()
	if _, err := exec.LookPath("go"); err != nil || version == "" {
		return errors.New("PATH has neither kubectl nor go to build it")
	}
	temp, err := tempdir.New("kubectl")
	if err != nil {
		return err
	}
	defer temp.Remove()
	dir := temp.Path()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(kubectlMain), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(a.notes, "miniapi: no kubectl on PATH: building k8s.io/kubectl %s with go, this takes some minutes\n", version)
	release := "v1" + strings.TrimPrefix(version, "v0")
	for _, args := range [][]string{
		{"mod", "init", "kubectl"},
		{"get", "k8s.io/kubectl/pkg/cmd@" + version, "k8s.io/component-base/cli@" + version},
		{"build", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + release, "-o", path, "."},
	} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return fmt.Errorf("go %s: %w: %s", args[0], err, lines[len(lines)-1])
		}
	}
	return nil
}

// apiVersion returns the version of k8s.io/api in this program, or "" if it is unknown.
func apiVersion() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	i := slices.IndexFunc(info.Deps, func(dep *debug.Module) bool { return dep.Path == "k8s.io/api" })
	if i < 0 {
		return ""
	}
	return info.Deps[i].Version
}
