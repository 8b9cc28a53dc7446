package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi/internal/process"
)

// replacement is miniapi in the role of another program, kube-apiserver or etcd, for envtest.
type replacement struct {
	cmd           *cobra.Command
	sets          []flagSet
	version       string // printed by --version
	outliveParent bool
	dir           *string // the value of the flag for the directory that envtest makes
	run           func(context.Context) error
}

// envtestDir begins the name of each temporary directory that envtest makes for a process.
const envtestDir = "k8s_test_framework_"

// ofEnvtest reports whether envtest has started the process.
func (s *replacement) ofEnvtest() bool { return strings.HasPrefix(filepath.Base(*s.dir), envtestDir) }

// ignoredFlag is a documented flag without effect.
type ignoredFlag struct{ name, value, usage string }

// command returns the command for args. Unknown flags, which the replaced program may have, are
// ignored with a warning.
func (s *replacement) command(args []string, ignored []ignoredFlag) *cobra.Command {
	process := pflag.NewFlagSet("process", pflag.ContinueOnError)
	process.BoolVar(&s.outliveParent, "outlive-parent", false, "keep running when the parent process ends (default true, except for processes that envtest starts)")
	s.sets = append(s.sets, flagSet{"Process", process}, ignoredFlags(ignored))
	s.cmd.Args, s.cmd.Version = noArgs, strings.TrimSpace(s.version)
	s.cmd.SetVersionTemplate("{{.Version}}\n")
	s.cmd.FParseErrWhitelist.UnknownFlags = true
	addFlags(s.cmd, s.sets)
	s.cmd.SetArgs(args)
	s.cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if unknown := unknownFlags(cmd.Flags(), args); len(unknown) > 0 {
			fmt.Fprintf(os.Stderr, "%s: ignored flags: %s\n", cmd.Name(), strings.Join(unknown, ", "))
		}
		if s.outliveParent || !cmd.Flags().Changed("outlive-parent") && !s.ofEnvtest() {
			return s.run(cmd.Context())
		}
		ctx, cancel := withParent(cmd.Context(), cmd.Name())
		defer cancel()
		return s.run(ctx)
	}
	return s.cmd
}

func ignoredFlags(ignored []ignoredFlag) flagSet {
	flags := pflag.NewFlagSet("ignored", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, flag := range ignored {
		flags.String(flag.name, "", "`"+flag.value+"` "+flag.usage)
		if flag.value == "BOOL" {
			flags.Lookup(flag.name).NoOptDefVal = "true"
		}
	}
	return flagSet{"Ignored", flags}
}

// unknownFlags returns the flags in args that are not in flags.
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
			i++ // skip its value
		}
	}
	return unknown
}

// withParent returns a context that ends with ctx, or soon after the parent process. Without it,
// the servers of a killed test would run forever. A shell script expects them to run on.
func withParent(ctx context.Context, program string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := process.Parent()
	go func() { // ends with ctx
		if !parent.AwaitEnd(ctx.Done()) {
			return
		}
		cancel() // before the message, which blocks if standard error is not read
		fmt.Fprintf(os.Stderr, "%s: stopping, since its parent process %d has ended (use --outlive-parent to keep it running)\n", program, parent.ID())
	}()
	return ctx, cancel
}
