package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/controllers"
	"github.com/miniapi/miniapi/internal/bootstrap"
)

// newKubeAPIServerReplacement returns the replacement of kube-apiserver.
func newKubeAPIServerReplacement(args []string) *cobra.Command {
	opts := &options{}
	program := replacement{
		cmd: &cobra.Command{
			Use:  "kube-apiserver",
			Long: "This is miniapi, as a replacement of kube-apiserver for envtest.",
		},
		sets:    opts.kubeAPIServerFlags(),
		version: "Kubernetes " + miniapi.KubernetesVersion().GitVersion,
		dir:     &opts.secure.CertDir,
		run:     func(ctx context.Context) error { return serveOnly(ctx, opts) },
	}
	return program.command(args, []ignoredFlag{
		{"advertise-address", "IP", "of the endpoint of the Service default/kubernetes"},
		{"allow-privileged", "BOOL", "that permits privileged containers"},
		{"vmodule", "LEVELS", "of the log for single source files"},
	})
}

// miniapiFlags are the flags that kube-apiserver does not have, or has with another meaning.
var miniapiFlags = []string{
	"listen", "allow-unauthenticated-network-access", "write-kubeconfig", "data-dir", "etcd-listen-client-url",
	"history", "from-snapshot", "read-only", "at-revision", "bootstrap", "controllers", "pods", "crds", "manifests", "log-requests", "config", "enable-test-apis", "enable-ui", "outgoing-allow", "vmodule",
}

// kubeAPIServerFlags returns the flags that kube-apiserver also has, with its defaults.
func (o *options) kubeAPIServerFlags() []flagSet {
	var sets []flagSet
	for _, set := range o.flagSets() {
		shared := pflag.NewFlagSet(set.title, pflag.ContinueOnError)
		shared.SortFlags = false
		set.flags.VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains(miniapiFlags, flag.Name) {
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
		_ = flag.Value.Set(value) // cannot fail: the value is valid
	}
	o.data.Lookup(compactionFlag).Hidden = false
	o.general.Lookup("enable-test-apis").Changed = true
	o.testAPIs = os.Getenv(testAPIsEnv) == "true"
	o.faults = os.Getenv(faultsEnv)
	o.bootstrap = string(bootstrap.Full)
	o.controllers = environmentControllers()
	return sets
}

// controllersEnv lists the controllers of the replacement in the syntax of --controllers, because
// kube-apiserver has no such flag.
const controllersEnv = "MINIAPI_CONTROLLERS"

// testAPIsEnv enables the test APIs of the replacement. They are off by default: test suites for
// envtest may compare whole answers.
const testAPIsEnv = "MINIAPI_ENABLE_TEST_APIS"

// faultsEnv is the file of --faults of the replacement.
const faultsEnv = "MINIAPI_FAULTS"

// environmentControllers returns the controllers of controllersEnv, none by default: test suites
// for envtest expect that nothing reacts to deletions.
func environmentControllers() []string {
	if list := os.Getenv(controllersEnv); list != "" {
		return strings.Split(list, ",")
	}
	return []string{controllers.None}
}

// checkEnvironmentControllers returns an error for each unknown name in controllersEnv.
func (o *options) checkEnvironmentControllers() error {
	err := controllers.Config{Enabled: o.controllers}.Validate()
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "--controllers", "environment variable "+controllersEnv))
}

// serveOnly runs a server until ctx ends or the server fails. It prints nothing.
func serveOnly(ctx context.Context, opts *options) error {
	if len(opts.etcdServers) == 0 {
		return errors.New("--etcd-servers is required: set it to the URL of etcd, such as http://127.0.0.1:2379")
	}
	if err := opts.checkEnvironmentControllers(); err != nil {
		return err
	}
	server, err := opts.start(ctx)
	if err != nil {
		return err
	}
	return await(ctx, server)
}
