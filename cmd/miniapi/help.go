package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const longHelp = `miniapi is a Kubernetes API server that is small enough to run inside a test. It
stores objects in an embedded etcd or in an etcd cluster, with real optimistic
concurrency: a write from a stale copy is answered with 409.`

const exampleHelp = `  miniapi                                   serve on http://127.0.0.1:8080, discard the data on exit
  miniapi --listen 127.0.0.1:0              serve on a free port and print its number
  miniapi --data-dir ./data                 keep the data, synced to disk
  miniapi --etcd-servers http://HOST:2379   use an etcd cluster
  miniapi --crds config/crd/bases           install CustomResourceDefinitions
  miniapi run -- go test ./...              run a command with a server of its own
  miniapi assets DIR                        write a directory of binaries for envtest`

// The texts of flags begin at helpColumn and end at helpWidth.
const helpColumn, helpWidth = 36, 100

// printUsage prints the flags by group.
func printUsage(cmd *cobra.Command, sets []flagSet) error {
	out := cmd.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(out, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "%-*s%s\n", helpColumn, "  "+sub.CommandPath(), sub.Short)
			}
		}
	}
	for _, set := range sets {
		fmt.Fprintf(out, "\n%s:\n", set.title)
		set.flags.VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				printFlag(out, flag)
			}
		})
	}
	return nil
}

func printFlag(out io.Writer, flag *pflag.Flag) {
	value, text := pflag.UnquoteUsage(flag)
	name := "  --" + flag.Name
	switch flag.Shorthand {
	case "":
	case flag.Name:
		name = "  -" + flag.Name
	default:
		name = "  -" + flag.Shorthand + ", --" + flag.Name
	}
	if value != "" {
		name += " " + value
	}
	if !isZero(flag.DefValue) {
		text += " (default " + flag.DefValue + ")"
	}
	if len(name) > helpColumn-2 {
		fmt.Fprintln(out, name)
		name = ""
	}
	for _, line := range wrap(text, helpWidth-helpColumn) {
		fmt.Fprintf(out, "%-*s%s\n", helpColumn, name, line)
		name = ""
	}
}

func isZero(value string) bool {
	return value == "" || value == "0" || value == "false" || value == "[]"
}

// wrap breaks a text at spaces into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
