package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi/testapi/recording"
)

const replayHelp = `Sends the requests of a recording to an API server, one after the other, and prints the differences
between the recorded answers and its answers, a unified diff for each request. The exit code is 0
without a difference, 1 with one, and 2 after an error.

The server is miniapi or another API server. It must have the objects that existed before the
recording. Names such as <uid-1> are replaced by the values that this server has sent. The requests
write to the server: use a server for tests.`

const replayExample = `  miniapi run -- miniapi replay golden.yaml
  miniapi replay golden.yaml --server http://127.0.0.1:8080
  miniapi replay golden.yaml --kubeconfig kind.kubeconfig`

// replayOptions holds the flags of the subcommand replay.
type replayOptions struct {
	access  serverAccess
	timeout time.Duration
}

// newReplay returns the subcommand that replays a recording.
func newReplay() *cobra.Command {
	var opts replayOptions
	cmd := &cobra.Command{
		Use:     "replay FILE",
		Short:   "Send a recording to a server and print the differences",
		Long:    replayHelp,
		Example: replayExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return inTrouble(errors.New("replay takes a file of miniapi record, such as golden.yaml"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			differ, err := opts.run(cmd.Context(), args[0], cmd.OutOrStdout())
			if err == nil && differ {
				return exitError{code: exitDiffers}
			}
			return inTrouble(err)
		},
	}
	flags := opts.access.connectionFlagSet()
	flags.DurationVar(&opts.timeout, "timeout", 10*time.Second, "`DURATION` to wait for an answer, and for the events of a watch")
	addFlags(cmd, []flagSet{{"Flags", flags}})
	flagError := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return inTrouble(flagError(cmd, err)) })
	return cmd
}

// run prints the differences and reports whether there are some.
func (o *replayOptions) run(ctx context.Context, path string, out io.Writer) (differ bool, err error) {
	if o.timeout <= 0 {
		return false, fmt.Errorf("--timeout %v: it must be positive", o.timeout)
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	recorded, err := recording.Read(file)
	if err != nil {
		return false, fmt.Errorf("%s is not a recording: %w", path, err)
	}
	config, err := o.access.config()
	if err != nil {
		return false, err
	}
	replayed, err := recording.Replay(ctx, recording.Config{Server: config, Timeout: o.timeout}, recorded)
	if err != nil {
		return false, err
	}
	differing, err := recording.Diff(out, recorded, replayed, config.Host)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%d of %d requests have a different answer\n", differing, len(recorded))
	return differing > 0, nil
}
