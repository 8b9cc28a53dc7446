package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	etcd "go.etcd.io/etcd/api/v3/version"

	"github.com/miniapi/miniapi"
)

// shortVersion returns the line that --version prints after the name of the program.
func shortVersion() string {
	return fmt.Sprintf("%s (Kubernetes API %s)", miniapi.Version(), miniapi.KubernetesVersion().GitVersion)
}

// newVersion returns the subcommand that prints the versions of the program and its parts.
func newVersion() *cobra.Command {
	flags := pflag.NewFlagSet("version", pflag.ContinueOnError)
	flags.BoolP("help", "h", false, "print this help")
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of miniapi, the Kubernetes API, etcd and Go",
		Args:  noArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			revision := miniapi.Revision()
			if revision == "" {
				revision = "unknown"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "miniapi         %s\ncommit          %s\nKubernetes API  %s\netcd            v%s\nGo              %s %s/%s\n",
				miniapi.Version(), revision, miniapi.KubernetesVersion().GitVersion, etcd.Version,
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
	addFlags(cmd, []flagSet{{"Flags", flags}})
	return cmd
}
