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

	"github.com/miniapi/miniapi/internal/listener"
	"github.com/miniapi/miniapi/storage/embedded"
)

// etcdOptions holds the values of the flags of etcd.
type etcdOptions struct {
	embedded.Config
	name     string
	logLevel string
}

// newEtcdReplacement returns the replacement of etcd.
func newEtcdReplacement(args []string) *cobra.Command {
	opts := &etcdOptions{}
	program := replacement{
		cmd: &cobra.Command{
			Use:  "etcd",
			Long: "This is miniapi, as a replacement of etcd for envtest: a real etcd with a single member.",
		},
		sets: opts.flagSets(),
		version: fmt.Sprintf("etcd Version: %s\nGit SHA: %s\nGo Version: %s\nGo OS/Arch: %s/%s",
			version.Version, version.GitSHA, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		dir: &opts.DataDir,
		run: opts.run,
	}
	return program.command(withTwoDashes(args), []ignoredFlag{
		{"advertise-client-urls", "URLS", "for clients, published to the other members"},
		{"listen-peer-urls", "URLS", "at which to serve other members; the cluster has one member"},
		{"initial-advertise-peer-urls", "URLS", "at which other members reach this one"},
		{"initial-cluster", "MEMBERS", "of the initial cluster"},
		{"initial-cluster-state", "STATE", "of the initial cluster"},
		{"initial-cluster-token", "TOKEN", "of the initial cluster"},
		{"logger", "KIND", "of logger"},
		{"log-outputs", "FILES", "for the log, which goes to standard error"},
	})
}

func (o *etcdOptions) flagSets() []flagSet {
	member := pflag.NewFlagSet("member", pflag.ContinueOnError)
	member.StringVar(&o.name, "name", "default", "`NAME` of the member")
	member.StringVar(&o.DataDir, "data-dir", "", "`DIR` for the data (default NAME.etcd)")
	member.BoolVar(&o.UnsafeNoFsync, "unsafe-no-fsync", false, "do not sync the data to disk")
	member.StringSliceVar(&o.ListenClientURLs, "listen-client-urls", []string{"http://localhost:2379"}, "`URLS` at which to serve clients, loopback only; port 0 takes a free port")
	member.Int64Var(&o.QuotaBytes, "quota-backend-bytes", 0, "maximum size of the database in `BYTES` (default 2 GiB)")
	member.StringVar(&o.logLevel, "log-level", "warn", "`LEVEL` of the log: debug, info, warn, error")

	general := pflag.NewFlagSet("general", pflag.ContinueOnError)
	general.BoolP("help", "h", false, "print this help")
	general.Bool("version", false, "print the version of etcd")
	for _, set := range []*pflag.FlagSet{member, general} {
		set.SortFlags = false
	}
	return []flagSet{{"Member", member}, {"General", general}}
}

// run runs etcd until ctx ends or etcd fails.
func (o *etcdOptions) run(ctx context.Context) error {
	config := o.Config
	if config.DataDir == "" {
		config.DataDir = o.name + ".etcd"
	}
	config.Logger = newLogger(map[string]int{"info": 1, "debug": 4}[o.logLevel], nil)
	server, err := embedded.Start(ctx, config)
	if err != nil {
		return listener.AdviseInUse(err, "--listen-client-urls http://127.0.0.1:0")
	}
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return errors.Join(server.Err(), server.Close(context.WithoutCancel(ctx)))
}

// withTwoDashes rewrites flags such as -name, which etcd also accepts, to --name.
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
