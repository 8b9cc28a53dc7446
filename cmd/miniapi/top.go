package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/testapi/activity"
	"github.com/miniapi/miniapi/testapi/conflicts"
)

const topHelp = `Shows the activity of a server, once a second until Ctrl-C: the revision, the requests of each
client, the watches that are late, and the last conflicts. It prints once if the output is no
terminal. The server must have the test APIs on, as miniapi has by default on loopback.`

const topExample = `  miniapi top
  miniapi top --once --server http://127.0.0.1:8081`

// newTop returns the subcommand that shows the activity of a server.
func newTop() *cobra.Command {
	var access serverAccess
	var once bool
	var interval time.Duration
	cmd := &cobra.Command{Use: "top", Short: "Show the requests, watches and conflicts of a server", Long: topHelp, Example: topExample, Args: noArgs}
	flags := pflag.NewFlagSet("top", pflag.ContinueOnError)
	flags.BoolVar(&once, "once", false, "print once and exit")
	flags.DurationVar(&interval, "interval", time.Second, "`DURATION` between two updates")
	addFlags(cmd, []flagSet{{"Flags", flags}, {"Server", access.connectionFlagSet()}})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if interval < 100*time.Millisecond {
			return fmt.Errorf("--interval %v is too short: use at least 100ms", interval)
		}
		client, err := access.open(cmd.Context())
		if err != nil {
			return err
		}
		defer client.close()
		out := cmd.OutOrStdout()
		if once || !isTerminal(out) {
			return printTop(cmd.Context(), client, out)
		}
		return watchTop(cmd.Context(), client, out, interval)
	}
	return cmd
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// watchTop replaces the content of the terminal at each interval until ctx ends.
func watchTop(ctx context.Context, client *serverClient, out io.Writer, interval time.Duration) error {
	const clear = "\x1b[H\x1b[2J"
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		var screen bytes.Buffer
		screen.WriteString(clear)
		err := printTop(ctx, client, &screen)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := out.Write(screen.Bytes()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// printTop prints the present activity of a server.
func printTop(ctx context.Context, client *serverClient, out io.Writer) error {
	servers, err := listTestAPI[activity.Server](ctx, client, "servers")
	if apierrors.IsNotFound(err) {
		return errors.New("top: the server does not serve the test APIs: start it with --enable-test-apis")
	}
	if err != nil {
		return fmt.Errorf("top: %w", err)
	}
	if len(servers) != 1 {
		return errors.New("top: the server does not describe itself")
	}
	top := top{server: servers[0]}
	if top.requests, err = listTestAPI[activity.Request](ctx, client, "requests"); err != nil {
		return fmt.Errorf("top: %w", err)
	}
	if top.watches, err = listTestAPI[activity.Watch](ctx, client, "watches"); err != nil {
		return fmt.Errorf("top: %w", err)
	}
	if top.conflicts, err = listTestAPI[conflicts.Conflict](ctx, client, "conflicts"); err != nil {
		return fmt.Errorf("top: %w", err)
	}
	return top.print(out)
}

// listTestAPI returns the objects of a resource of the group miniapi.dev.
func listTestAPI[T any](ctx context.Context, client *serverClient, resource string) ([]T, error) {
	body, err := client.get(ctx, "/apis/miniapi.dev/v1alpha1/"+resource)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []T }
	return list.Items, json.Unmarshal(body, &list)
}
