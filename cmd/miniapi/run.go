package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/tempdir"
)

const runHelp = `Starts a server on a free port, runs a command that uses it, stops the server and exits with the
code of the command. The flags are those of miniapi itself, before the "--".

The command finds the server by the environment variable KUBECONFIG. KUBEBUILDER_ASSETS is set to
a directory in which etcd and kube-apiserver are miniapi, for tests that start envtest.`

const runExample = `  miniapi run -- kubectl get namespaces
  miniapi run --crds config/crd/bases -- go test ./...`

// newRun returns the subcommand that runs a command with a server.
func newRun() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:     "run [flags] -- COMMAND [ARGS]",
		Short:   "Run a command with a server of its own",
		Long:    runHelp,
		Example: runExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || cmd.ArgsLenAtDash() != 0 {
				return errors.New("run takes a command after --, such as miniapi run -- go test ./...")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("listen") {
				opts.listen = "127.0.0.1:0"
			}
			return runCommand(cmd.Context(), &opts, args)
		},
	}
	addFlags(cmd, opts.flagSets())
	readFlagSources(cmd, envPrefix)
	return cmd
}

// exitError is an exit code.
type exitError struct {
	code int
	// cause is printed. Nil: the command that ran has printed why, or the code is a result.
	cause error
}

func (e exitError) Error() string {
	if e.cause != nil {
		return e.cause.Error()
	}
	return fmt.Sprintf("exit code %d", e.code)
}

// Unwrap returns the cause.
func (e exitError) Unwrap() error { return e.cause }

// commandTimeout is how long a command may take to end after an interrupt.
const commandTimeout = 30 * time.Second

// runCommand runs a command while a server runs. An interrupt reaches the command, and the server
// stops after it.
func runCommand(ctx context.Context, opts *options, args []string) error {
	server, err := opts.start(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer removeAbandoned(ctx)()
	kubeconfig, err := server.Kubeconfig()
	if err == nil {
		err = runWithKubeconfig(ctx, kubeconfig, args)
	}
	stopAfterCommand(ctx, server)
	return err
}

// stopAfterCommand stops a server. The exit code is the command's, so an error is printed.
func stopAfterCommand(ctx context.Context, server *miniapi.Server) {
	if err := server.Stop(context.WithoutCancel(ctx)); err != nil {
		printError("miniapi", err)
	}
}

// runWithKubeconfig runs a command with a kubeconfig and a directory of binaries for envtest.
func runWithKubeconfig(ctx context.Context, kubeconfig []byte, args []string) error {
	temp, err := tempdir.New("run")
	if err != nil {
		return err
	}
	defer temp.Remove()
	dir := temp.Path()
	file := filepath.Join(dir, "kubeconfig")
	if err := errors.Join(os.WriteFile(file, kubeconfig, 0o600), linkAssets(dir)); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Cancel = func() error { return interrupt(command.Process) }
	command.WaitDelay = commandTimeout
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), "KUBECONFIG="+file, "KUBEBUILDER_ASSETS="+dir)
	return exitOf(command.Run())
}

// linkAssets links this program into dir under the names of envtest's binaries, and kubectl of
// PATH if there is one. A file system without symbolic links gets copies.
func linkAssets(dir string) error {
	programs := map[string]string{}
	var err error
	if programs["etcd"], err = os.Executable(); err != nil {
		return err
	}
	programs["kube-apiserver"] = programs["etcd"]
	if kubectl, err := exec.LookPath("kubectl"); err == nil {
		programs["kubectl"] = kubectl
	}
	a := assets{dir: dir}
	for name, file := range programs {
		if os.Symlink(file, a.path(name)) == nil {
			continue
		}
		if err := replaceWith(a.path(name), file); err != nil {
			return err
		}
	}
	return nil
}

// exitOf returns an exitError for a command that ended with a code.
func exitOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if code := exit.ExitCode(); code > 0 {
		return exitError{code: code}
	}
	return exitError{code: 1} // ended by a signal
}
