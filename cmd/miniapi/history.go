package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi/testapi/history"
)

const historyHelp = `Prints the versions of an object that etcd keeps, also of deleted objects of the same name: the
resourceVersion, who wrote it, and the changed fields. The server must have the test APIs on, as
miniapi has by default on loopback.`

const historyExample = `  miniapi history deploy/web
  miniapi history configmap/settings -n kube-system --server http://127.0.0.1:8081`

// newHistory returns the subcommand that prints the versions of an object.
func newHistory() *cobra.Command {
	return newObjectCommand(&cobra.Command{
		Use:     "history TYPE/NAME",
		Short:   "Print the past versions of an object",
		Long:    historyHelp,
		Example: historyExample,
	}, printHistory)
}

// newObjectCommand returns a subcommand that prints something about the object of its argument.
func newObjectCommand(cmd *cobra.Command, print func(ctx context.Context, access *serverAccess, object string, out io.Writer) error) *cobra.Command {
	var access serverAccess
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || !isObjectArgument(args[0]) {
			return fmt.Errorf("%s takes an object such as deploy/web", cmd.Name())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := print(cmd.Context(), &access, args[0], cmd.OutOrStdout()); err != nil {
			return fmt.Errorf("%s of %s: %w", cmd.Name(), args[0], err)
		}
		return nil
	}
	addFlags(cmd, []flagSet{{"Flags", access.flagSet()}})
	return cmd
}

// isObjectArgument reports whether an argument is TYPE/NAME.
func isObjectArgument(text string) bool {
	kind, name, found := strings.Cut(text, "/")
	return found && kind != "" && name != "" && !strings.Contains(name, "/")
}

func printHistory(ctx context.Context, access *serverAccess, object string, out io.Writer) error {
	var h history.History
	if err := access.readSubresource(ctx, object, "history", &h); err != nil {
		return err
	}
	if h.Omitted > 0 {
		fmt.Fprintf(out, "%d earlier versions are left out\n", h.Omitted)
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESOURCEVERSION\tEVENT\tVERSION\tWRITER\tVERB\tTIME\tFIELDS")
	for _, v := range h.Versions {
		writer := cmp.Or(v.Writer, &history.Writer{})
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", v.ResourceVersion, v.Event, v.Version,
			nameOf(writer), cmp.Or(writer.Verb, "-"), cmp.Or(writer.Time, "-"),
			cmp.Or(strings.Join(v.Fields, ","), "-"))
	}
	return table.Flush()
}

// nameOf returns the name by which a table lists a writer.
func nameOf(w *history.Writer) string {
	return cmp.Or(w.FieldManager, productOf(w.UserAgent), w.User, "<unknown>")
}
