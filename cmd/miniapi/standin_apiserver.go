package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
)

// newKubeAPIServer returns the program that takes kube-apiserver's place.
func newKubeAPIServer(args []string) *cobra.Command {
	opts := &options{}
	program := standIn{
		cmd: &cobra.Command{
			Use:  "kube-apiserver",
			Long: "This is miniapi in the place of kube-apiserver, as far as envtest starts it.",
		},
		sets:    opts.kubeAPIServerFlags(),
		version: "Kubernetes " + miniapi.KubernetesVersion().GitVersion,
		run:     func(ctx context.Context) error { return serveOnly(ctx, opts) },
	}
	return program.command(args, []idleFlag{
		{"advertise-address", "IP", "of the server: it is what the Service default/kubernetes leads to"},
		{"allow-privileged", "BOOL", "that is about containers, which nothing runs"},
		{"vmodule", "LEVELS", "of the log for single source files"},
	})
}

// own are miniapi's own flags, which kube-apiserver does not have.
var own = []string{
	"listen", "allow-unauthenticated-network-access", "write-kubeconfig", "data-dir", "etcd-listen-client-url",
	"bootstrap", "crds", "manifests",
}

// kubeAPIServerFlags are those flags of miniapi that are named as in
// kube-apiserver, with the defaults that they have there.
func (o *options) kubeAPIServerFlags() []flagSet {
	var sets []flagSet
	for _, set := range o.flagSets() {
		shared := pflag.NewFlagSet(set.title, pflag.ContinueOnError)
		shared.SortFlags = false
		set.flags.VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains(own, flag.Name) {
				shared.AddFlag(flag)
			}
		})
		if shared.HasFlags() {
			sets = append(sets, flagSet{set.title, shared})
		}
	}
	for name, value := range map[string]string{
		"secure-port": "6443", "bind-address": "0.0.0.0", "cert-dir": "/var/run/kubernetes",
	} {
		flag := o.secure.flags.Lookup(name)
		flag.DefValue, flag.Changed = value, true
		_ = flag.Value.Set(value) // which is valid
	}
	o.bootstrap = string(bootstrap.Full)
	return sets
}

// serveOnly serves until ctx ends or the server fails, and prints nothing.
func serveOnly(ctx context.Context, opts *options) error {
	if len(opts.etcdServers) == 0 {
		return errors.New("--etcd-servers is not set: it says where etcd is, such as http://127.0.0.1:2379")
	}
	server, err := opts.start(ctx)
	if err != nil {
		return err
	}
	return await(ctx, server)
}
