package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
)

// options holds the values of the flags.
type options struct {
	listen       string
	allowNetwork bool
	kubeconfig   string

	dataDir        string
	etcdListenURLs []string
	etcdServers    []string
	etcdPrefix     string
	etcdQuota      int64
	etcdTLS        transport.TLSInfo
	compaction     time.Duration

	serviceRange   string
	nodePorts      string
	enablePlugins  []string
	disablePlugins []string
	controllers    []string
	pods           string
	emulated       string
	featureGates   featureGates
	bootstrap      string
	crds           []string
	manifests      string
	verbosity      int
	logRequests    bool
	testAPIs       bool
	faults         string

	secure  secureOptions
	serving *pflag.FlagSet
	general *pflag.FlagSet
}

// flagSet is a group of flags in the help.
type flagSet struct {
	title string
	flags *pflag.FlagSet
}

func (o *options) flagSets() []flagSet {
	serving := pflag.NewFlagSet("serving", pflag.ContinueOnError)
	serving.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`HOST:PORT` for plain HTTP; port 0 takes a free port")
	serving.BoolVar(&o.allowNetwork, "allow-unauthenticated-network-access", false, "permit a --listen host that is not loopback; its clients have full access without authentication")
	serving.StringVar(&o.kubeconfig, "write-kubeconfig", "", "`FILE` to write the kubeconfig to (default: a file in the user's cache directory that is removed on exit)")

	o.serving = serving
	security := o.secure.flagSet()

	data := pflag.NewFlagSet("data", pflag.ContinueOnError)
	data.StringVar(&o.dataDir, "data-dir", "", "`DIR` for the data, synced to disk (default: a temporary directory that is removed on exit)")
	data.StringSliceVar(&o.etcdListenURLs, "etcd-listen-client-url", nil, "`URL` at which the embedded etcd serves clients such as etcdctl, for example http://127.0.0.1:2379")
	data.StringSliceVar(&o.etcdServers, "etcd-servers", nil, "comma-separated `URLS` of an etcd cluster to use instead of the embedded etcd")
	data.StringVar(&o.etcdTLS.TrustedCAFile, "etcd-cafile", "", "`FILE` with the CA certificate of --etcd-servers")
	data.StringVar(&o.etcdTLS.CertFile, "etcd-certfile", "", "`FILE` with the client certificate for --etcd-servers")
	data.StringVar(&o.etcdTLS.KeyFile, "etcd-keyfile", "", "`FILE` with the client key for --etcd-servers")
	data.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "`PATH` prefix of all keys in etcd")
	data.Int64Var(&o.etcdQuota, "etcd-quota-backend-bytes", 0, "maximum size of the embedded etcd's database in `BYTES` (default 2 GiB)")
	data.DurationVar(&o.compaction, "etcd-compaction-interval", 5*time.Minute, "`DURATION` for which history is kept, shorter if the database approaches its quota; 0 keeps it forever")

	cluster := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	cluster.StringVar(&o.serviceRange, "service-cluster-ip-range", "10.0.0.0/24", "`CIDR` of cluster IPs; for dual stack two, separated by a comma")
	cluster.StringVar(&o.nodePorts, "service-node-port-range", "30000-32767", "`FIRST-LAST` of node ports")
	cluster.StringSliceVar(&o.enablePlugins, "enable-admission-plugins", nil, "comma-separated `NAMES` of admission plugins to run in addition to the default ones; ServiceAccount is off by default")
	cluster.StringSliceVar(&o.disablePlugins, "disable-admission-plugins", nil, "comma-separated `NAMES` of admission plugins not to run")
	cluster.StringSliceVar(&o.controllers, "controllers", []string{"*", "serviceaccount", "root-ca-cert-publisher"}, "comma-separated `NAMES` of built-in controllers to run: * for the deletion of namespaces, garbage collection and expiry, NAME to add one such as deployment, replicaset, statefulset, daemonset or job, -NAME to remove one, -* for none")
	cluster.StringVar(&o.pods, "pods", string(miniapi.PodsManual), "`MODE` of pods: manual (a client binds them and writes their status) or instant (bound, and ready, completed or terminated at once)")
	cluster.StringVar(&o.emulated, "emulated-version", "", "`RELEASE` of Kubernetes whose API is served, 1.36 or 1.37 (default 1.37)")
	cluster.Var(&o.featureGates, "feature-gates", "comma-separated `NAME=BOOL` pairs of feature gates of kube-apiserver; gates that miniapi does not implement have no effect")
	cluster.StringVar(&o.bootstrap, "bootstrap", string(bootstrap.Minimal), "`MODE` of the initial objects: minimal (namespaces, Service default/kubernetes) or full (all objects that kube-apiserver creates; Endpoints of default/kubernetes only if --bind-address is not a loopback address)")
	cluster.StringSliceVar(&o.crds, "crds", nil, "comma-separated `PATHS` of files and folders with CustomResourceDefinitions to install at start")
	cluster.StringVar(&o.manifests, "manifests", "", "`DIR` of manifests to apply at start and whenever a file changes")

	general := pflag.NewFlagSet("general", pflag.ContinueOnError)
	general.IntVarP(&o.verbosity, "v", "v", 0, verbosityUsage)
	general.BoolVar(&o.logRequests, "log-requests", false, "log a line for each request when it ends, also without -v")
	general.BoolVar(&o.testAPIs, "enable-test-apis", false, "serve the group miniapi.dev: explained conflicts, history and a journal of writes (default: on if all addresses are on loopback)")
	general.StringVar(&o.faults, "faults", "", "`FILE` with a list of faults to inject into requests, see docs/faults.md")
	o.general = general
	addConfigFlag(general, envPrefix, "listen")
	general.BoolP("help", "h", false, "print this help")
	general.Bool("version", false, "print the versions of miniapi and of the Kubernetes API")
	for _, set := range []*pflag.FlagSet{serving, security, data, cluster, general} {
		set.SortFlags = false
	}
	return []flagSet{{"Serving", serving}, {"Security", security}, {"Data", data}, {"Cluster", cluster}, {"General", general}}
}

// config returns the configuration of the server, or all errors of the flags, joined.
func (o *options) config() (miniapi.Config, error) {
	config := miniapi.Config{
		Listen:                            o.listen,
		AllowUnauthenticatedNetworkAccess: o.allowNetwork,
		DataDir:                           o.dataDir,
		EtcdListenClientURLs:              o.etcdListenURLs,
		EtcdServers:                       o.etcdServers,
		EtcdPrefix:                        o.etcdPrefix,
		EtcdQuotaBackendBytes:             o.etcdQuota,
		CompactionInterval:                o.compaction,
		ServiceClusterIPRange:             o.serviceRange,
		ServiceNodePortRange:              o.nodePorts,
		EnableAdmissionPlugins:            o.enablePlugins,
		DisableAdmissionPlugins:           o.disablePlugins,
		Controllers:                       o.controllers,
		Pods:                              miniapi.PodsMode(o.pods),
		Bootstrap:                         bootstrap.Mode(o.bootstrap),
		CRDs:                              o.crds,
		Manifests:                         o.manifests,
		Logger:                            newLogger(o.verbosity),
		LogRequests:                       o.logRequests || o.verbosity >= requestVerbosity,
		EmulatedVersion:                   o.emulated,
		FeatureGates:                      o.featureGates,
		TestAPIs:                          o.testAPIs,
	}
	secureErr := o.secure.apply(&config, o.serving.Changed("listen"))
	if !o.general.Changed("enable-test-apis") {
		config.TestAPIs = onLoopback(config)
	}
	var tlsErr, compactionErr, faultsErr error
	config.Faults, faultsErr = readFaults(o.faults)
	config.EtcdTLS, tlsErr = o.etcdTLSConfig()
	switch {
	case o.compaction == 0:
		config.CompactionInterval = -1
	case o.compaction < time.Second:
		compactionErr = fmt.Errorf("--etcd-compaction-interval %v is too short: use at least 1s, or 0 to keep history forever", o.compaction)
	}
	if err := errors.Join(config.Validate(), secureErr, tlsErr, compactionErr, faultsErr); err != nil {
		return miniapi.Config{}, err
	}
	return config, nil
}

func (o *options) etcdTLSConfig() (*tls.Config, error) {
	if o.etcdTLS.Empty() && o.etcdTLS.TrustedCAFile == "" {
		return nil, nil
	}
	if len(o.etcdServers) == 0 {
		return nil, errors.New("--etcd-cafile, --etcd-certfile and --etcd-keyfile require --etcd-servers")
	}
	if (o.etcdTLS.CertFile == "") != (o.etcdTLS.KeyFile == "") {
		return nil, errors.New("--etcd-certfile and --etcd-keyfile must be set together")
	}
	config, err := o.etcdTLS.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("TLS for --etcd-servers: %w", err)
	}
	return config, nil
}
