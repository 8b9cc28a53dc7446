package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const assetsHelp = `Writes a directory that takes the place of the one with envtest's binaries: etcd
and kube-apiserver, which are miniapi under these names, and kubectl. On standard
output comes the line for the shell, so that this is all there is to do:

  eval "$(miniapi assets DIR)"

kubectl is the one of --kubectl, or that of PATH, or is built by Go if there is
one. Without it everything works but envtest's own KubeCtl.`

// newAssets returns the subcommand that makes a KUBEBUILDER_ASSETS.
func newAssets() *cobra.Command {
	a := &assets{}
	flags := pflag.NewFlagSet("assets", pflag.ContinueOnError)
	flags.StringVar(&a.givenKubectl, "kubectl", "", "`FILE` that is kubectl (default: the one of PATH, or else one that is built)")
	flags.BoolP("help", "h", false, "print this text")
	cmd := &cobra.Command{
		Use:   "assets DIR",
		Short: "Make a KUBEBUILDER_ASSETS for envtest",
		Long:  assetsHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("assets takes one directory, such as ./bin/envtest (see %s --help)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.note = cmd.ErrOrStderr()
			if err := a.write(cmd.Context(), args[0]); err != nil {
				return fmt.Errorf("assets: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "export KUBEBUILDER_ASSETS="+shellWord(a.dir))
			return nil
		},
	}
	addFlags(cmd, []flagSet{{"Flags", flags}})
	return cmd
}

// assets is the directory that is made.
type assets struct {
	dir          string // absolute
	givenKubectl string
	note         io.Writer // for what is worth knowing
}

// write makes or completes the directory. What is there and miniapi's own is
// replaced, a kubectl is kept unless another one is given.
func (a *assets) write(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if a.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		path := a.path(name)
		if err := checkOwn(path); err != nil {
			return err
		}
		if err := replaceWith(path, self); err != nil {
			return err
		}
		self = path // so that the second is a link even where the first is a copy
	}
	return a.writeKubectl(ctx)
}

func (a *assets) path(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(a.dir, name)
}

// checkOwn refuses to replace somebody else's program, such as the real one.
func checkOwn(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	self, _ := buildinfo.ReadFile(path)
	if self == nil || self.Path != "github.com/miniapi/miniapi/cmd/miniapi" {
		return fmt.Errorf("%s is there and not miniapi: choose another directory", path)
	}
	return nil
}

// replaceWith makes path the same program as file: by a hard link, which takes
// no space and stays when file goes, or a copy where there cannot be one.
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
	defer from.Close() // only read from
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// shellWord quotes what a shell would not take for one word.
func shellWord(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
