// Command miniapi runs a mini Kubernetes API server. Without flags it serves on
// http://127.0.0.1:8080, keeps its data in a temporary directory, and says how
// to use it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := newCommand()
	if err := cmd.ExecuteContext(ctx); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "miniapi: "+line)
		}
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:           "miniapi",
		Short:         "A mini Kubernetes API server for tests and for learning",
		Long:          longHelp,
		Example:       exampleHelp,
		Version:       fmt.Sprintf("%s (Kubernetes API %s)", miniapi.Version(), miniapi.KubernetesVersion().GitVersion),
		Args:          noArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), &opts, cmd.OutOrStdout())
		},
	}
	addFlags(cmd, &opts)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w (see miniapi --help)", err)
	})
	return cmd
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: miniapi takes flags only (see miniapi --help)", args[0])
	}
	return nil
}

// run serves until ctx ends or the server fails.
func run(ctx context.Context, opts *options, out io.Writer) error {
	config, err := opts.config()
	if err != nil {
		return err
	}
	server, err := miniapi.Start(ctx, config)
	if err != nil {
		return explain(err)
	}
	kubeconfig, err := writeKubeconfig(server, opts.kubeconfig)
	if err != nil {
		return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	defer kubeconfig.remove()
	printBanner(out, server, kubeconfig.path, opts)
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return server.Stop(context.WithoutCancel(ctx))
}

// explain adds what to do where the error of the system does not say it.
func explain(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: stop what uses that port, or choose another with --listen 127.0.0.1:0", err)
	}
	return err
}
