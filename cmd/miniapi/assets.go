package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const assetsHelp = `Writes a directory that replaces the binaries of envtest: etcd and kube-apiserver,
which are links to miniapi, and kubectl. The output is the shell command that sets
KUBEBUILDER_ASSETS:

  eval "$(miniapi assets DIR)"            in sh, bash and zsh
  miniapi assets DIR | Invoke-Expression  in PowerShell

The same programs are in DIR/k8s/VERSION-OS-ARCH, the layout of setup-envtest:
"setup-envtest use -i --bin-dir DIR" finds them, and so does envtest with
BinaryAssetsDirectory DIR/k8s and DownloadBinaryAssets.

kubectl is the file given by --kubectl, else the one on PATH, else one that is built
with go. Only envtest's own KubeCtl and DownloadBinaryAssets need it.`

// newAssets returns the subcommand that writes a directory for KUBEBUILDER_ASSETS.
func newAssets() *cobra.Command {
	a := &assets{}
	flags := pflag.NewFlagSet("assets", pflag.ContinueOnError)
	flags.StringVar(&a.givenKubectl, "kubectl", "", "kubectl `FILE` to link to (default: kubectl on PATH, else one that is built with go)")
	flags.StringVar(&a.shell, "shell", defaultShell(), "`SHELL` for which the output is: sh or powershell")
	flags.StringVar(&a.layoutVersion, "as-version", servedVersion(), "Kubernetes `VERSION` in the name of the layout; it does not change the served API")
	addConfigFlag(flags, assetsEnvPrefix, "kubectl")
	flags.BoolP("help", "h", false, "print this help")
	cmd := &cobra.Command{
		Use:   "assets DIR",
		Short: "Write a directory of binaries for envtest",
		Long:  assetsHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("assets takes exactly one directory, such as ./bin/envtest (see %s --help)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			assign, err := assignmentIn(a.shell)
			if err != nil {
				return err
			}
			a.notes = cmd.ErrOrStderr()
			if err := a.write(cmd.Context(), args[0]); err != nil {
				return fmt.Errorf("assets: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), assign("KUBEBUILDER_ASSETS", a.dir))
			return nil
		},
	}
	addFlags(cmd, []flagSet{{"Flags", flags}})
	readFlagSources(cmd, assetsEnvPrefix)
	return cmd
}

// assets writes the directory.
type assets struct {
	dir           string // absolute
	givenKubectl  string
	layoutVersion string
	shell         string
	notes         io.Writer
}

// write creates or completes the directory. It replaces binaries of miniapi. It replaces kubectl
// only if one is given.
func (a *assets) write(ctx context.Context, dir string) error {
	layout, err := layoutName(a.layoutVersion)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if a.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := writeServers(a.dir, self); err != nil {
		return err
	}
	if err := a.writeKubectl(ctx); err != nil {
		return err
	}
	return a.writeLayout(filepath.Join(a.dir, layout))
}

// writeServers writes kube-apiserver and etcd, which are the program self, to a directory.
func writeServers(dir, self string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		path := programPath(dir, name)
		if err := checkOwn(path); err != nil {
			return err
		}
		if err := replaceWith(path, self); err != nil {
			return err
		}
		self = path // the second file is a link even if the first is a copy
	}
	return nil
}

func (a *assets) path(name string) string { return programPath(a.dir, name) }

// programPath returns the file of a program in a directory.
func programPath(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// checkOwn returns an error if path is another program, such as the real kube-apiserver.
func checkOwn(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !fileContains(path, []byte(ownBuildInfo)) {
		return fmt.Errorf("%s exists and is not miniapi: choose another directory", path)
	}
	return nil
}

// ownBuildInfo is a line of the build information that Go writes into each build of this program.
// Package debug/buildinfo would read it too, but adds parsers of all executable formats.
const ownBuildInfo = "path\tgithub.com/miniapi/miniapi/cmd/miniapi\n"

// fileContains returns false for a file that cannot be read.
func fileContains(path string, text []byte) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() // read only
	buffer, kept := make([]byte, 1<<20), 0
	for {
		n, err := file.Read(buffer[kept:])
		read := buffer[:kept+n]
		if bytes.Contains(read, text) {
			return true
		}
		if err != nil {
			return false
		}
		// The text can continue in the next part.
		kept = copy(buffer, read[max(0, len(read)-len(text)+1):])
	}
}

// replaceWith replaces path by the program in file: by a hard link, which takes no space and
// outlives file, or by a copy if the file system does not allow one.
func replaceWith(path, file string) error {
	old, _ := os.Stat(path)
	if now, err := os.Stat(file); err == nil && os.SameFile(old, now) {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(path), ".miniapi-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, filepath.Base(path))
	if os.Link(file, made) != nil {
		if err := copyProgram(made, file); err != nil {
			return err
		}
	}
	return os.Rename(made, path)
}

func copyProgram(path, file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close() // read only
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
