package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const snapshotHelp = `Takes a snapshot of all objects of a running miniapi and prints its name. "miniapi restore NAME"
restores it, "kubectl get snapshots" lists the snapshots, "kubectl delete snapshot NAME" frees the
memory. Snapshots end with the server.

The server must have the test APIs on, as miniapi has by default on loopback.`

const restoreHelp = `Brings all objects of a running miniapi to the state of a snapshot of "miniapi snapshot". Objects
that differ are written or deleted, without admission, and watches get the changes as events.
ResourceVersions do not decrease. A write of a client during the restore may be lost or may remain.`

// newSnapshot returns the subcommand that takes a snapshot.
func newSnapshot() *cobra.Command {
	var access serverAccess
	cmd := &cobra.Command{
		Use:     "snapshot [NAME]",
		Short:   "Take a snapshot of all objects of a server",
		Long:    snapshotHelp,
		Example: "  miniapi snapshot before\n  miniapi restore before",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("snapshot takes one name, or none for a generated one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			metadata := map[string]any{"generateName": "snapshot-"}
			if len(args) == 1 {
				metadata = map[string]any{"name": args[0]}
			}
			return postSnapshot(cmd.Context(), &access, "", metadata, cmd.OutOrStdout())
		},
	}
	addFlags(cmd, []flagSet{{"Flags", access.connectionFlagSet()}})
	return cmd
}

// newRestore returns the subcommand that restores a snapshot.
func newRestore() *cobra.Command {
	var access serverAccess
	cmd := &cobra.Command{
		Use:     "restore NAME",
		Short:   "Restore a snapshot of miniapi snapshot",
		Long:    restoreHelp,
		Example: "  miniapi snapshot before\n  miniapi restore before",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("restore takes the name of a snapshot of miniapi snapshot")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return postSnapshot(cmd.Context(), &access, "/"+args[0]+"/restore", map[string]any{"name": args[0]}, io.Discard)
		},
	}
	addFlags(cmd, []flagSet{{"Flags", access.connectionFlagSet()}})
	return cmd
}

const snapshotsPath = "/apis/miniapi.dev/v1alpha1/snapshots"

// postSnapshot posts a Snapshot to a path below the snapshots and prints its name.
func postSnapshot(ctx context.Context, access *serverAccess, path string, metadata map[string]any, out io.Writer) error {
	client, err := access.open(ctx)
	if err != nil {
		return err
	}
	defer client.close()
	body, err := json.Marshal(map[string]any{"apiVersion": "miniapi.dev/v1alpha1", "kind": "Snapshot", "metadata": metadata})
	if err != nil {
		return err
	}
	answer, err := client.do(ctx, http.MethodPost, snapshotsPath+path, body)
	if apierrors.IsNotFound(err) && path == "" {
		return fmt.Errorf("%w: the server has no snapshots: start miniapi with --enable-test-apis", err)
	}
	if err != nil {
		return err
	}
	var created metav1.PartialObjectMetadata
	if err := json.Unmarshal(answer, &created); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, created.Name)
	return err
}
