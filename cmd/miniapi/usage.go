package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi/internal/suggest"
)

// addFlags adds the flags to a command and sets its help and its error format.
func addFlags(cmd *cobra.Command, sets []flagSet) {
	for _, set := range sets {
		cmd.Flags().AddFlagSet(set.flags)
	}
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetUsageFunc(func(called *cobra.Command) error {
		if called != cmd { // a command of cobra, which inherits this function
			return printUsage(called, []flagSet{{"Flags", called.Flags()}})
		}
		return printUsage(cmd, sets)
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		hint, unknown := "", &pflag.NotExistError{}
		if errors.As(err, &unknown) {
			if near := suggest.Nearest(unknown.GetSpecifiedName(), settable(cmd.Flags())); near != "" {
				hint = ": did you mean --" + near + "?"
			}
		}
		return fmt.Errorf("%w%s (see %s --help)", err, hint, cmd.CommandPath())
	})
}

// noArgs rejects arguments. Of a command with subcommands an argument is an unknown command.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return fmt.Errorf("unexpected argument %q: %s takes flags only (see %[2]s --help)", args[0], cmd.CommandPath())
	}
	return fmt.Errorf("unknown command %q%s (see %s --help)", args[0], didYouMeanCommand(cmd, args[0]), cmd.CommandPath())
}

// didYouMeanCommand returns the part of an error with the only subcommand that begins with a word,
// else the most similar one, "" if none is similar.
func didYouMeanCommand(cmd *cobra.Command, word string) string {
	var names, completed []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		names = append(names, sub.Name())
		if strings.HasPrefix(sub.Name(), strings.ToLower(word)) {
			completed = append(completed, sub.Name())
		}
	}
	if len(completed) == 1 {
		return fmt.Sprintf(": did you mean %q?", completed[0])
	}
	return suggest.DidYouMean(word, names)
}

// completeCommands adds the commands of cobra, help and completion. They report unknown commands.
func completeCommands(root *cobra.Command) {
	root.SetHelpCommand(&cobra.Command{
		Use:    "help [COMMAND]",
		Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return noArgs(root, args)
			}
			if err := noArgs(cmd, rest); err != nil {
				return err
			}
			return cmd.Help()
		},
	})
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.Args = noArgs
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range cmd.Commands() {
			shell.Args = noArgs
		}
	}
}
