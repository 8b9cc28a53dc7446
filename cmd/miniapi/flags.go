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
	history        time.Duration
	compaction     time.Duration
	fromSnapshot   string
	readOnly       bool
	atRevision     int64
	encryption     string
	reload         bool

	serviceRange   string
	nodePorts      string
	enablePlugins  []string
	disablePlugins []string
	pluginConfig   string
	controllers    []string
	pods           string
	emulated       string
	featureGates   featureGates
	bootstrap      string
	crds           []string
	manifests      string
	verbosity      int
	vmodule        map[string]int
	profiling      bool
	tracing        string
	logRequests    bool
	auditLog       string
	outgoing       []string
	auditPolicy    string
	testAPIs       bool
	ui             bool
	faults         string

	secure  secureOptions
	serving *pflag.FlagSet
	data    *pflag.FlagSet
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
	data.StringVar(&o.fromSnapshot, "from-snapshot", "", "`FILE` of etcdctl snapshot save, or the data directory of an etcd, whose objects are served read-only from a copy")
	data.BoolVar(&o.readOnly, "read-only", false, "read from --etcd-servers without writing anything")
	data.Int64Var(&o.atRevision, "at-revision", 0, "`REVISION` of etcd to serve with --from-snapshot or --read-only (default: the latest one)")
	data.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "`PATH` prefix of all keys in etcd")
	data.Int64Var(&o.etcdQuota, "etcd-quota-backend-bytes", 0, "maximum size of the embedded etcd's database in `BYTES` (default 2 GiB)")
	data.DurationVar(&o.history, "history", defaultHistory, "`DURATION` for which the history of objects is kept, shorter if the database approaches its quota; 0 keeps it forever")
	data.DurationVar(&o.compaction, compactionFlag, defaultHistory, "`DURATION` for which history is kept; 0 keeps it forever")
	data.Lookup(compactionFlag).Hidden = true // the name that kube-apiserver has for --history
	o.data = data
	data.StringVar(&o.encryption, "encryption-provider-config", "", "`FILE` with an EncryptionConfiguration, by which objects are encrypted in etcd, see docs/encryption.md")
	data.BoolVar(&o.reload, "encryption-provider-config-automatic-reload", false, "load --encryption-provider-config again when the file changes")

	cluster := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	cluster.StringVar(&o.serviceRange, "service-cluster-ip-range", "10.0.0.0/24", "`CIDR` of cluster IPs; for dual stack two, separated by a comma")
	cluster.StringVar(&o.nodePorts, "service-node-port-range", "30000-32767", "`FIRST-LAST` of node ports")
	cluster.StringSliceVar(&o.enablePlugins, "enable-admission-plugins", nil, "comma-separated `NAMES` of admission plugins to run in addition to the default ones; ServiceAccount is off by default")
	cluster.StringSliceVar(&o.disablePlugins, "disable-admission-plugins", nil, "comma-separated `NAMES` of admission plugins not to run")
	cluster.StringVar(&o.pluginConfig, "admission-control-config-file", "", "`FILE` with the AdmissionConfiguration of apiserver.config.k8s.io that configures PodSecurity, PodNodeSelector, PodTolerationRestriction, EventRateLimit, ResourceQuota and webhooks")
	cluster.StringSliceVar(&o.controllers, "controllers", []string{"*", "serviceaccount", "root-ca-cert-publisher"}, "comma-separated `NAMES` of built-in controllers to run: * for the deletion of namespaces, garbage collection and expiry, NAME to add one such as deployment, replicaset, statefulset, daemonset or job, -NAME to remove one, -* for none")
	cluster.StringVar(&o.pods, "pods", string(miniapi.PodsManual), "`MODE` of pods: manual (a client binds them and writes their status) or instant (bound, and ready, completed or terminated at once)")
	cluster.StringVar(&o.emulated, "emulated-version", "", "`RELEASE` of Kubernetes whose API is served, 1.36 or 1.37 (default 1.37)")
	cluster.Var(&o.featureGates, "feature-gates", "comma-separated `NAME=BOOL` pairs of feature gates of kube-apiserver; gates that miniapi does not implement have no effect")
	cluster.StringVar(&o.bootstrap, "bootstrap", string(bootstrap.Minimal), "`MODE` of the initial objects: minimal (namespaces, Service default/kubernetes) or full (all objects that kube-apiserver creates; Endpoints of default/kubernetes only if --bind-address is not a loopback address)")
	cluster.StringSliceVar(&o.crds, "crds", nil, "comma-separated `PATHS` of files and folders with CustomResourceDefinitions to install at start")
	cluster.StringVar(&o.manifests, "manifests", "", "`DIR` of manifests to apply at start and whenever a file changes")

	general := pflag.NewFlagSet("general", pflag.ContinueOnError)
	general.IntVarP(&o.verbosity, "v", "v", 0, verbosityUsage)
	general.StringToIntVar(&o.vmodule, "vmodule", nil, vmoduleUsage)
	general.StringVar(&o.tracing, "tracing-config-file", "", "`FILE` with the TracingConfiguration of apiserver.config.k8s.io/v1 by which requests are traced, see docs/metrics.md")
	general.BoolVar(&o.profiling, "profiling", false, "serve profiles of the process at /debug/pprof to administrators")
	general.BoolVar(&o.logRequests, "log-requests", false, "log a line for each request when it ends, also without -v")
	general.StringSliceVar(&o.outgoing, "outgoing-allow", nil, "comma-separated `ADDRESSES` that webhooks, APIServices and token issuers may have: CIDRs, IP addresses and host names, each optionally with :PORT (default: all)")
	general.StringVar(&o.auditLog, "audit-log-path", "", "`FILE` to append the audit log to, - for the standard output, see docs/audit.md")
	general.StringVar(&o.auditPolicy, "audit-policy-file", "", "`FILE` with the audit.k8s.io/v1 Policy of --audit-log-path (default: the metadata of every request)")
	general.BoolVar(&o.testAPIs, "enable-test-apis", false, "serve the group miniapi.dev: explained conflicts, history, watches, requests and a journal of writes (default: on if all addresses are on loopback)")
	general.BoolVar(&o.ui, "enable-ui", false, "serve a page for browsers at /ui (default: on if all addresses are on loopback)")
	general.StringVar(&o.faults, "faults", "", "`FILE` with faults to inject into requests, a list or manifests, see docs/faults.md")
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
		FromSnapshot:                      o.fromSnapshot,
		ReadOnly:                          o.readOnly,
		AtRevision:                        o.atRevision,
		EtcdPrefix:                        o.etcdPrefix,
		EtcdQuotaBackendBytes:             o.etcdQuota,
		EncryptionProviderConfig:          o.encryption,
		ServiceClusterIPRange:             o.serviceRange,
		ServiceNodePortRange:              o.nodePorts,
		EnableAdmissionPlugins:            o.enablePlugins,
		DisableAdmissionPlugins:           o.disablePlugins,
		AdmissionControlConfigFile:        o.pluginConfig,
		Controllers:                       o.controllers,
		Pods:                              miniapi.PodsMode(o.pods),
		Bootstrap:                         bootstrap.Mode(o.bootstrap),
		CRDs:                              o.crds,
		Manifests:                         o.manifests,
		Logger:                            newLogger(o.verbosity, o.vmodule),
		Profiling:                         o.profiling,
		TracingConfigFile:                 o.tracing,
		LogRequests:                       o.logRequests || o.verbosity >= requestVerbosity,
		OutgoingAllow:                     o.outgoing,
		AuditLogPath:                      o.auditLog,
		AuditPolicyFile:                   o.auditPolicy,
		EmulatedVersion:                   o.emulated,
		FeatureGates:                      o.featureGates,
		TestAPIs:                          o.testAPIs,
		UI:                                o.ui,

		EncryptionProviderConfigAutomaticReload: o.reload,
	}
	secureErr := o.secure.apply(&config, o.serving.Changed("listen"))
	if !o.general.Changed("enable-test-apis") {
		config.TestAPIs = onLoopback(config)
	}
	if !o.general.Changed("enable-ui") {
		config.UI = onLoopback(config)
	}
	var tlsErr, historyErr, faultsErr error
	config.Faults, faultsErr = readFaults(o.faults)
	config.EtcdTLS, tlsErr = o.etcdTLSConfig()
	config.CompactionInterval, historyErr = o.retention()
	if err := errors.Join(config.Validate(), secureErr, tlsErr, historyErr, faultsErr); err != nil {
		return miniapi.Config{}, err
	}
	return config, nil
}

const (
	defaultHistory = 5 * time.Minute
	compactionFlag = "etcd-compaction-interval"
)

// retention returns how long history is kept, negative for ever.
func (o *options) retention() (time.Duration, error) {
	name, history := "history", o.history
	if o.data.Changed(compactionFlag) {
		if o.data.Changed(name) && o.history != o.compaction {
			return 0, fmt.Errorf("--history %v and --%s %v differ: both set how long history is kept, remove one of them", o.history, compactionFlag, o.compaction)
		}
		name, history = compactionFlag, o.compaction
	}
	switch {
	case history == 0:
		return -1, nil
	case history < time.Second:
		return 0, fmt.Errorf("--%s %v is too short: use at least 1s, or 0 to keep history forever", name, history)
	}
	return history, nil
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
