package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// standIn is a program that takes the place of another one.
type standIn struct {
	cmd  *cobra.Command
	sets []flagSet
	// version is what --version prints.
	version       string
	outliveParent bool
	run           func(context.Context) error
}

// idleFlag is one that is accepted, and about nothing that miniapi has.
type idleFlag struct{ name, value, usage string }

// command completes the program for a command line. Flags that the other
// program may have but this one does not are named in a warning, and let pass.
func (s *standIn) command(args []string, idle []idleFlag) *cobra.Command {
	process := pflag.NewFlagSet("process", pflag.ContinueOnError)
	process.BoolVar(&s.outliveParent, "outlive-parent", false, "keep running when the process that started this one ends")
	s.sets = append(s.sets, flagSet{"Process", process}, idleFlags(idle))
	s.cmd.Args, s.cmd.Version = noArgs, strings.TrimSpace(s.version)
	s.cmd.SetVersionTemplate("{{.Version}}\n")
	s.cmd.FParseErrWhitelist.UnknownFlags = true
	addFlags(s.cmd, s.sets)
	s.cmd.SetArgs(args)
	s.cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if unknown := unknownFlags(cmd.Flags(), args); len(unknown) > 0 {
			fmt.Fprintf(os.Stderr, "%s: without effect here: %s\n", cmd.Name(), strings.Join(unknown, ", "))
		}
		if s.outliveParent {
			return s.run(cmd.Context())
		}
		ctx, cancel := withParent(cmd.Context(), cmd.Name())
		defer cancel()
		return s.run(ctx)
	}
	return s.cmd
}

func idleFlags(idle []idleFlag) flagSet {
	flags := pflag.NewFlagSet("idle", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, flag := range idle {
		flags.String(flag.name, "", "`"+flag.value+"` "+flag.usage)
		if flag.value == "BOOL" {
			flags.Lookup(flag.name).NoOptDefVal = "true"
		}
	}
	return flagSet{"Accepted, without effect", flags}
}

// unknownFlags returns the flags of a command line that are not among those
// of the program.
func unknownFlags(flags *pflag.FlagSet, args []string) []string {
	var unknown []string
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		arg, _, hasValue := strings.Cut(args[i], "=")
		if len(arg) < 2 || arg[0] != '-' {
			continue
		}
		flag := flags.Lookup(strings.TrimPrefix(arg, "--"))
		if arg[1] != '-' {
			flag = flags.ShorthandLookup(arg[1:2])
			hasValue = hasValue || len(arg) > 2
		}
		switch {
		case flag == nil && !slices.Contains(unknown, arg):
			unknown = append(unknown, arg)
		case flag != nil && !hasValue && flag.NoOptDefVal == "":
			i++ // is its value
		}
	}
	return unknown
}

// parentInterval is how often a process looks for the one that started it.
const parentInterval = time.Second

// withParent returns a context that ends with ctx, or soon after the process
// that started this one. A test that is killed cannot stop what it has started,
// which would run for ever.
func withParent(ctx context.Context, program string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() { // ends with ctx
		ticker := time.NewTicker(parentInterval)
		defer ticker.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		cancel() // first: nobody may be left to read the line
		fmt.Fprintf(os.Stderr, "%s: stopping, for process %d, which started it, has ended (--outlive-parent goes on)\n", program, parent)
	}()
	return ctx, cancel
}
