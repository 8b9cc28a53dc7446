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

// options are the flags as they were given.
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
	bootstrap      string
	crds           []string
	manifests      string
	verbosity      int

	secure  secureOptions
	serving *pflag.FlagSet
}

// flagSet is a group of flags as --help shows them.
type flagSet struct {
	title string
	flags *pflag.FlagSet
}

func (o *options) flagSets() []flagSet {
	serving := pflag.NewFlagSet("serving", pflag.ContinueOnError)
	serving.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`HOST:PORT` to serve on; port 0 takes a free one")
	serving.BoolVar(&o.allowNetwork, "allow-unauthenticated-network-access", false, "permit a --listen host that is not loopback: whoever reaches it can do everything")
	serving.StringVar(&o.kubeconfig, "write-kubeconfig", "", "`FILE` to write the kubeconfig to (default: a file in the user's cache directory, removed at the end)")

	o.serving = serving
	security := o.secure.flagSet()

	data := pflag.NewFlagSet("data", pflag.ContinueOnError)
	data.StringVar(&o.dataDir, "data-dir", "", "`DIR` that keeps the data, synced to disk (default: a temporary directory, removed at the end)")
	data.StringSliceVar(&o.etcdListenURLs, "etcd-listen-client-url", nil, "`URL` at which the embedded etcd answers etcdctl, such as http://127.0.0.1:2379")
	data.StringSliceVar(&o.etcdServers, "etcd-servers", nil, "`URLS` of an etcd cluster, comma-separated, to use instead of the embedded etcd")
	data.StringVar(&o.etcdTLS.TrustedCAFile, "etcd-cafile", "", "`FILE` with the certificate authority of --etcd-servers")
	data.StringVar(&o.etcdTLS.CertFile, "etcd-certfile", "", "`FILE` with the client certificate for --etcd-servers")
	data.StringVar(&o.etcdTLS.KeyFile, "etcd-keyfile", "", "`FILE` with the client key for --etcd-servers")
	data.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "`PATH` that comes before all keys in etcd")
	data.Int64Var(&o.etcdQuota, "etcd-quota-backend-bytes", 0, "`BYTES` that the embedded etcd's database may have (default 2 GiB)")
	data.DurationVar(&o.compaction, "etcd-compaction-interval", 5*time.Minute, "`DURATION` for which history is kept as far as the quota has room; 0 keeps it for ever")

	cluster := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	cluster.StringVar(&o.serviceRange, "service-cluster-ip-range", "10.0.0.0/24", "`CIDR` of the services' addresses")
	cluster.StringVar(&o.nodePorts, "service-node-port-range", "30000-32767", "`FIRST-LAST` of the services' node ports")
	cluster.StringSliceVar(&o.enablePlugins, "enable-admission-plugins", nil, "`NAMES` of kube-apiserver's admission plugins to run beside the default ones; ServiceAccount is not among those")
	cluster.StringSliceVar(&o.disablePlugins, "disable-admission-plugins", nil, "`NAMES` of those not to run")
	cluster.StringVar(&o.bootstrap, "bootstrap", string(bootstrap.Minimal), "`MODE` of what exists from the start: minimal (namespaces, Service default/kubernetes) or full (all that kube-apiserver creates)")
	cluster.StringSliceVar(&o.crds, "crds", nil, "`PATHS` of files and folders with CustomResourceDefinitions to serve, comma-separated")
	cluster.StringVar(&o.manifests, "manifests", "", "`DIR` of manifests to apply at the start, and again when one changes")

	general := pflag.NewFlagSet("general", pflag.ContinueOnError)
	general.IntVarP(&o.verbosity, "v", "v", 0, "log `LEVEL`: 0 warnings, 2 what happens, 4 everything")
	general.BoolP("help", "h", false, "print this text")
	general.Bool("version", false, "print the versions of miniapi and of the Kubernetes API")
	for _, set := range []*pflag.FlagSet{serving, security, data, cluster, general} {
		set.SortFlags = false
	}
	return []flagSet{{"Serving", serving}, {"Security", security}, {"Data", data}, {"Cluster", cluster}, {"General", general}}
}

// config returns the server's configuration, or every fault of the flags.
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
		Bootstrap:                         bootstrap.Mode(o.bootstrap),
		CRDs:                              o.crds,
		Manifests:                         o.manifests,
		Logger:                            newLogger(o.verbosity),
	}
	secureErr := o.secure.apply(&config, o.serving.Changed("listen"))
	var tlsErr, compactionErr error
	config.EtcdTLS, tlsErr = o.etcdTLSConfig()
	switch {
	case o.compaction == 0:
		config.CompactionInterval = -1
	case o.compaction < time.Second:
		compactionErr = fmt.Errorf("--etcd-compaction-interval %v is too short: use 0 to keep history for ever, or at least 1s", o.compaction)
	}
	if err := errors.Join(config.Validate(), secureErr, tlsErr, compactionErr); err != nil {
		return miniapi.Config{}, err
	}
	return config, nil
}

func (o *options) etcdTLSConfig() (*tls.Config, error) {
	if o.etcdTLS.Empty() && o.etcdTLS.TrustedCAFile == "" {
		return nil, nil
	}
	if len(o.etcdServers) == 0 {
		return nil, errors.New("--etcd-cafile, --etcd-certfile and --etcd-keyfile are for --etcd-servers, which is not set")
	}
	config, err := o.etcdTLS.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("TLS for --etcd-servers: %w", err)
	}
	return config, nil
}
