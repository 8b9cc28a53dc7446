package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/miniapi/miniapi/testapi/history"
)

const blameHelp = `Prints each field of an object with the write that gave it its present value: the resourceVersion,
the time and the writer. "<=" before a resourceVersion marks a value that may be older than the
oldest version that etcd keeps. The server must have the test APIs on, as miniapi has by default on
loopback.`

const blameExample = `  miniapi blame deploy/web
  miniapi blame configmap/settings -n kube-system --server http://127.0.0.1:8081`

// newBlame returns the subcommand that prints who wrote each field of an object.
func newBlame() *cobra.Command {
	return newObjectCommand(&cobra.Command{
		Use:     "blame TYPE/NAME",
		Short:   "Print who wrote each field of an object",
		Long:    blameHelp,
		Example: blameExample,
	}, printBlame)
}

func printBlame(ctx context.Context, access *serverAccess, object string, out io.Writer) error {
	var b history.Blame
	if err := access.readSubresource(ctx, object, "blame", &b); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "RESOURCEVERSION\tTIME\tWRITER\tFIELD\tVALUE")
	for _, f := range b.Fields {
		version, writer := f.ResourceVersion, cmp.Or(f.Writer, &history.Writer{})
		if f.Older {
			version = "<=" + version
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", version, cmp.Or(writer.Time, "-"), nameOf(writer), f.Path, shorten(string(f.Value)))
	}
	return table.Flush()
}

// maxBlameValue is the number of bytes of a value that the table shows.
const maxBlameValue = 80

// shorten cuts a long value.
func shorten(value string) string {
	if len(value) <= maxBlameValue {
		return value
	}
	end := maxBlameValue
	for !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end] + "..."
}
