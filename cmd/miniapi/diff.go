package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

const diffHelp = `Prints the difference between two versions of an object, or between two snapshots of etcd, as YAML
without managedFields and without the values of Secrets. The exit code is 0 without a difference, 1
with one, and 2 after an error.

A version is a resourceVersion of "miniapi history". Without the second one, the present object is
compared. The server must have the test APIs on, as miniapi has by default on loopback.

With --to-snapshot the objects of two snapshots are compared. A type, a name or a namespace
limits the objects. An object is not listed if only its resourceVersion or managedFields differ.`

const diffExample = `  miniapi diff deploy/web@120 @134
  miniapi diff deploy/web@120
  miniapi diff configmap/settings@120 configmap/defaults -n kube-system
  miniapi diff --from-snapshot monday.db --to-snapshot tuesday.db
  miniapi diff --from-snapshot monday.db --to-snapshot tuesday.db deployments -n shop`

// Exit codes of diff, as of diff(1).
const (
	exitDiffers = 1
	exitTrouble = 2
)

// diffOptions holds the flags of the subcommand diff.
type diffOptions struct {
	access serverAccess
	to     snapshotSource
	brief  bool
}

// newDiff returns the subcommand that compares versions of an object, or snapshots.
func newDiff() *cobra.Command {
	var opts diffOptions
	cmd := &cobra.Command{
		Use:     "diff TYPE/NAME@VERSION [[TYPE/NAME]@VERSION] | --from-snapshot FILE --to-snapshot FILE [TYPE[/NAME]]",
		Short:   "Compare two versions of an object, or two snapshots of etcd",
		Long:    diffHelp,
		Example: diffExample,
		Args:    func(_ *cobra.Command, args []string) error { return inTrouble(opts.validate(args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			differ, err := opts.run(cmd.Context(), args, cmd.OutOrStdout())
			if err == nil && differ {
				return exitError{code: exitDiffers}
			}
			return inTrouble(err)
		},
	}
	flags := opts.access.flagSet()
	flags.StringVar(&opts.to.file, "to-snapshot", "", "`FILE` or data directory of the second snapshot; the first one is --from-snapshot")
	flags.BoolVarP(&opts.brief, "brief", "q", false, "print one line for each object that differs between the snapshots")
	addFlags(cmd, []flagSet{{"Flags", flags}})
	flagError := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return inTrouble(flagError(cmd, err)) })
	return cmd
}

// inTrouble gives an error the exit code of an error.
func inTrouble(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitTrouble, err}
}

func (o *diffOptions) validate(args []string) error {
	if o.to.file == "" {
		_, err := parseComparison(args)
		if err == nil && o.brief {
			err = errors.New("--brief is for --to-snapshot")
		}
		return err
	}
	if o.access.snapshot.file == "" {
		return errors.New("--to-snapshot is compared with another snapshot: name it with --from-snapshot")
	}
	if len(args) > 1 {
		return errors.New("diff of snapshots takes one type or object at most, such as deployments or deploy/web")
	}
	return nil
}

// run prints the difference and reports whether there is one.
func (o *diffOptions) run(ctx context.Context, args []string, out io.Writer) (differ bool, err error) {
	if o.to.file == "" {
		compared, err := parseComparison(args)
		if err != nil {
			return false, err
		}
		return compareVersions(ctx, &o.access, compared, out)
	}
	return o.compareSnapshots(ctx, args, out)
}
