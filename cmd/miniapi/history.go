package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi/testapi/history"
)

const historyHelp = `Prints the versions of an object that etcd keeps, also of deleted objects of the same name: the
resourceVersion, who wrote it, and the changed fields. The server must have the test APIs on, as
miniapi has by default on loopback.`

const historyExample = `  miniapi history deploy/web
  miniapi history configmap/settings -n kube-system --server http://127.0.0.1:8081`

// newHistory returns the subcommand that prints the versions of an object.
func newHistory() *cobra.Command {
	var access serverAccess
	cmd := &cobra.Command{
		Use:     "history TYPE/NAME",
		Short:   "Print the past versions of an object",
		Long:    historyHelp,
		Example: historyExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !isObjectArgument(args[0]) {
				return errors.New("history takes an object such as deploy/web")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := printHistory(cmd.Context(), &access, args[0], cmd.OutOrStdout()); err != nil {
				return fmt.Errorf("history of %s: %w", args[0], err)
			}
			return nil
		},
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
	client, err := access.client()
	if err != nil {
		return err
	}
	path, err := client.pathOf(ctx, object, access.namespace)
	if err != nil {
		return err
	}
	body, err := client.get(ctx, path+"/history")
	if err != nil {
		return err
	}
	var h history.History
	if err := json.Unmarshal(body, &h); err != nil {
		return err
	}
	if h.Omitted > 0 {
		fmt.Fprintf(out, "%d earlier versions are left out\n", h.Omitted)
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESOURCEVERSION\tEVENT\tVERSION\tWRITER\tVERB\tTIME\tFIELDS")
	for _, v := range h.Versions {
		writer := cmp.Or(v.Writer, &history.Writer{})
		product, _, _ := strings.Cut(writer.UserAgent, "/")
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", v.ResourceVersion, v.Event, v.Version,
			cmp.Or(writer.FieldManager, product, writer.User, "<unknown>"), cmp.Or(writer.Verb, "-"), cmp.Or(writer.Time, "-"),
			cmp.Or(strings.Join(v.Fields, ","), "-"))
	}
	return table.Flush()
}

// serverAccess holds the flags by which a subcommand finds a server.
type serverAccess struct{ server, kubeconfig, namespace string }

func (a *serverAccess) flagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	flags.StringVar(&a.server, "server", "", "`URL` of a server without authentication (default: the server of --kubeconfig, else http://127.0.0.1:8080)")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` with the server and the credentials (default: environment variable KUBECONFIG)")
	flags.StringVarP(&a.namespace, "namespace", "n", "default", "`NAMESPACE` of the object")
	flags.BoolP("help", "h", false, "print this help")
	return flags
}
