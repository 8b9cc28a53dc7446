package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/api/v3/version"

	"github.com/miniapi/miniapi/storage/embedded"
)

// etcdOptions are etcd's flags as they were given.
type etcdOptions struct {
	embedded.Config
	name     string
	logLevel string
}

// newEtcd returns the program that takes etcd's place.
func newEtcd(args []string) *cobra.Command {
	opts := &etcdOptions{}
	program := standIn{
		cmd: &cobra.Command{
			Use:  "etcd",
			Long: "This is miniapi in the place of etcd: a real etcd of a single member, with the\nflags that envtest needs.",
		},
		sets: opts.flagSets(),
		version: fmt.Sprintf("etcd Version: %s\nGit SHA: %s\nGo Version: %s\nGo OS/Arch: %s/%s",
			version.Version, version.GitSHA, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		run: opts.run,
	}
	return program.command(withTwoDashes(args), []idleFlag{
		{"advertise-client-urls", "URLS", "that members tell of each other"},
		{"listen-peer-urls", "URLS", "for other members, which cannot be"},
		{"initial-advertise-peer-urls", "URLS", "for other members"},
		{"initial-cluster", "MEMBERS", "of which there is one"},
		{"initial-cluster-state", "STATE", "of the cluster"},
		{"initial-cluster-token", "TOKEN", "of the cluster"},
		{"logger", "KIND", "of log"},
		{"log-outputs", "FILES", "of the log, which goes to standard error"},
	})
}

func (o *etcdOptions) flagSets() []flagSet {
	member := pflag.NewFlagSet("member", pflag.ContinueOnError)
	member.StringVar(&o.name, "name", "default", "`NAME` of the member")
	member.StringVar(&o.DataDir, "data-dir", "", "`DIR` that keeps the data (default NAME.etcd)")
	member.BoolVar(&o.UnsafeNoFsync, "unsafe-no-fsync", false, "do not sync the data to disk")
	member.StringSliceVar(&o.ListenClientURLs, "listen-client-urls", []string{"http://localhost:2379"}, "`URLS` at which clients are served, loopback only; port 0 takes a free one")
	member.Int64Var(&o.QuotaBytes, "quota-backend-bytes", 0, "`BYTES` that the database may have (default 2 GiB)")
	member.StringVar(&o.logLevel, "log-level", "warn", "`LEVEL` of the log: debug, info, warn, error")

	general := pflag.NewFlagSet("general", pflag.ContinueOnError)
	general.BoolP("help", "h", false, "print this text")
	general.Bool("version", false, "print the version of etcd")
	for _, set := range []*pflag.FlagSet{member, general} {
		set.SortFlags = false
	}
	return []flagSet{{"Member", member}, {"General", general}}
}

// run serves until ctx ends or etcd fails.
func (o *etcdOptions) run(ctx context.Context) error {
	config := o.Config
	if config.DataDir == "" {
		config.DataDir = o.name + ".etcd"
	}
	config.Logger = newLogger(map[string]int{"info": 1, "debug": 4}[o.logLevel])
	server, err := embedded.Start(ctx, config)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return errors.Join(server.Err(), server.Close(context.WithoutCancel(ctx)))
}

// withTwoDashes spells flags such as -name, which etcd takes too, as --name.
func withTwoDashes(args []string) []string {
	long := make([]string, len(args))
	for i, arg := range args {
		if len(arg) > 2 && arg[0] == '-' && !strings.HasPrefix(arg, "--") {
			arg = "-" + arg
		}
		long[i] = arg
	}
	return long
}
