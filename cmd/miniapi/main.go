// Command miniapi runs a mini Kubernetes API server. Without flags it serves on
// http://127.0.0.1:8080, keeps its data in a temporary directory, and prints how to use it. Started
// under the name etcd or kube-apiserver, it replaces those binaries for envtest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	_ "time/tzdata" // for time zones of CronJobs in container images without zoneinfo

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/memory"
	"github.com/miniapi/miniapi/internal/tempdir"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	go memory.Returner{}.Run(ctx) // ends with the process
	cmd := newProgram(os.Args)
	if err := cmd.ExecuteContext(ctx); err != nil {
		exit, ok := err.(exitError)
		if !ok {
			exit = exitError{1, err}
		}
		if exit.cause != nil {
			printError(cmd.Name(), exit.cause)
		}
		os.Exit(exit.code)
	}
}

// printError prints the lines of an error to standard error.
func printError(program string, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(os.Stderr, program+": "+line)
	}
}

// stopSignals returns the signals that stop the program in an orderly way. SIGHUP is not among them
// under nohup, which ignores it.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// newProgram returns the command for the name under which the program was started.
func newProgram(args []string) *cobra.Command {
	switch strings.TrimSuffix(filepath.Base(args[0]), ".exe") {
	case "etcd":
		return newEtcdReplacement(args[1:])
	case "kube-apiserver":
		return newKubeAPIServerReplacement(args[1:])
	default:
		return newMiniapi()
	}
}

func newMiniapi() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:     "miniapi",
		Short:   "A mini Kubernetes API server for tests and for learning",
		Long:    longHelp,
		Example: exampleHelp,
		Version: shortVersion(),
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), &opts, cmd.OutOrStdout())
		},
	}
	addFlags(cmd, opts.flagSets())
	readFlagSources(cmd, envPrefix)
	cmd.AddCommand(newRun(), newHost(), newAssets(), newHealthcheck(), newHistory(), newDiff(), newBlame(), newDump(), newRecord(), newReplay(), newSnapshot(), newRestore(), newTop(), newUI(), newVersion())
	completeCommands(cmd)
	return cmd
}

// run starts a server, prints the banner, and blocks until ctx ends or the server fails.
func run(ctx context.Context, opts *options, out io.Writer) error {
	server, err := opts.start(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := writeKubeconfig(server, opts.kubeconfig)
	if err != nil {
		return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	defer kubeconfig.remove()
	printBanner(out, server, kubeconfig.path, opts)
	defer removeAbandoned(ctx)()
	return await(ctx, server)
}

func (o *options) start(ctx context.Context) (*miniapi.Server, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	return miniapi.Start(ctx, config)
}

// removeAbandoned removes, in the background, the temporary directories and the kubeconfigs of
// servers that were killed. It is called when a server is ready, so that it does not delay the
// start. The result waits for its end.
func removeAbandoned(ctx context.Context) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with wait
		defer close(done)
		_ = tempdir.RemoveAbandoned(ctx) // a later server tries again
		_ = removeAbandonedKubeconfigs(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// await blocks until ctx ends or the server fails, and then until the server has stopped.
func await(ctx context.Context, server *miniapi.Server) error {
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return server.Stop(context.WithoutCancel(ctx))
}
