package miniapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"path"
	"time"

	"k8s.io/utils/clock"

	"github.com/miniapi/miniapi/admission"
	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/requestlog"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/controllers"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/internal/tracing/export"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Config configures a server. The zero value is right for a test: a free port on loopback, an
// embedded etcd in a temporary directory, no log.
type Config struct {
	// Listen is HOST:PORT for plain HTTP; port 0 takes a free one. A request without a bearer
	// token is the administrator's. Default: 127.0.0.1:0, or no plain port if Secure is set.
	Listen string
	// AllowUnauthenticatedNetworkAccess permits a Listen host that is not loopback. Every client
	// that reaches the port then has full access.
	AllowUnauthenticatedNetworkAccess bool
	// Secure serves HTTPS to authenticated users. Default: no HTTPS.
	Secure *Secure
	// Authorization selects the authorization modes. Default: AlwaysAllow.
	Authorization AuthorizationMode
	// AuthorizationWebhook is the server of the mode Webhook.
	AuthorizationWebhook AuthorizationWebhook
	// AuthorizationConfig is the path of an AuthorizationConfiguration of
	// apiserver.config.k8s.io, as the flag of kube-apiserver, instead of Authorization. The file is
	// loaded again when it changes.
	AuthorizationConfig string
	// EnableAdmissionPlugins and DisableAdmissionPlugins name admission plugins of kube-apiserver
	// to run, or not to run. Default: the plugins of kube-apiserver by default, without
	// ServiceAccount.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// AdmissionControlConfigFile is the path of an AdmissionConfiguration of
	// apiserver.config.k8s.io, as the flag of kube-apiserver, with the configurations of
	// PodSecurity, PodNodeSelector, PodTolerationRestriction, EventRateLimit, ResourceQuota and
	// webhooks. Default: none of them is configured.
	AdmissionControlConfigFile string
	// Controllers lists the built-in controllers to run, in the syntax of the flag --controllers of
	// kube-controller-manager: "*" is all that are on by default, "name" adds one, "-name" removes
	// one. []string{"-*"} runs none. Default (nil): "*", the deletion of namespaces, garbage
	// collection and expiry, so that deletions have the same effect as in a cluster.
	Controllers []string
	// Pods selects the lifecycle of pods, which have no kubelet. Default: PodsManual.
	Pods PodsMode
	// MaxRequestsInFlight and MaxMutatingRequestsInFlight limit the reads and writes that are in
	// progress. Administrators are exempt over HTTPS, where they are authenticated. Default: 400
	// and 200; negative: no limit.
	MaxRequestsInFlight, MaxMutatingRequestsInFlight int

	// EmulatedVersion is the Kubernetes release whose API is served, 1.36 or 1.37: its resources,
	// fields, defaults and validation. Default: 1.37.
	EmulatedVersion string
	// FeatureGates enables and disables feature gates of kube-apiserver. Gates that the server does
	// not implement have no effect. Default: the defaults of the release.
	FeatureGates map[string]bool

	// DataDir keeps the data of the embedded etcd, which then syncs every write to disk. Default: a
	// temporary directory without syncing, which Stop removes.
	DataDir string
	// EtcdListenClientURLs are addresses such as http://127.0.0.1:2379 at which the embedded etcd
	// serves etcdctl. Default: none.
	EtcdListenClientURLs []string
	// EtcdServers are the client URLs of an etcd cluster to use instead of an embedded etcd. The
	// server is then stateless.
	EtcdServers []string
	// EtcdTLS is for EtcdServers with https URLs.
	EtcdTLS *tls.Config
	// EtcdQuotaBackendBytes limits the size of the embedded etcd's database. History is compacted
	// early when the database approaches the limit. Writes are rejected when the objects alone
	// reach it. Default: 2 GiB.
	EtcdQuotaBackendBytes int64
	// FromSnapshot is a snapshot of the etcd of a cluster: a file that etcdctl snapshot save has
	// written, or the data directory of an etcd that does not run. The server serves its objects,
	// also the custom ones, from a copy in a temporary directory. It is read-only: every write of
	// an object is a 403, and there are no bootstrap objects, controllers or aggregated APIs.
	// Webhooks are not called. Default: none.
	FromSnapshot string
	// ReadOnly opens EtcdServers in the same way, except that conversion webhooks are called. Reads
	// and watches show the writes of other servers.
	ReadOnly bool
	// AtRevision is the revision of etcd that all reads, watches and discovery of a read-only
	// server show. Default: the latest one.
	AtRevision int64
	// EtcdPrefix is the prefix of all keys; its leading slash may be omitted. Default: /registry.
	EtcdPrefix string
	// EncryptionProviderConfig is the path of an EncryptionConfiguration, as the flag of
	// kube-apiserver, by which objects are encrypted in etcd. Default: objects are not encrypted.
	EncryptionProviderConfig string
	// EncryptionProviderConfigAutomaticReload loads the EncryptionConfiguration again when the file
	// changes.
	EncryptionProviderConfigAutomaticReload bool
	// CompactionInterval is how long history is kept. A watch or list at an older revision may be
	// answered with 410. Negative: forever. Default: forever in a temporary directory, so that
	// tests have the whole history, otherwise 5 minutes.
	CompactionInterval time.Duration

	// ServiceClusterIPRange is one CIDR, or two of different IP families separated by a comma, the
	// primary one first. Default: 10.0.0.0/24.
	ServiceClusterIPRange string
	// ServiceNodePortRange is FIRST-LAST of the node ports of Services. Default: 30000-32767.
	ServiceNodePortRange string
	// Bootstrap selects the objects that every server starts with. Default: bootstrap.Minimal, the
	// namespaces and the Service default/kubernetes.
	Bootstrap bootstrap.Mode
	// Snapshot is the initial state, instead of the bootstrap objects. The storage must be empty:
	// DataDir and EtcdServers cannot be set. Default: none.
	Snapshot *Snapshot
	// CRDs are files and folders of CustomResourceDefinitions to install before Start returns; see
	// InstallCRDs, also for the errors.
	CRDs []string
	// Manifests is a folder of objects to apply before Start returns (server-side, as field manager
	// "miniapi"). A changed file is applied again. An object that is removed from the files is not
	// deleted. Default: none.
	Manifests string

	// TestAPIs serves the test APIs, see package testapi: a journal of writes, and conflicts that
	// name the writes that came first and the fields that both sides changed. Default: off,
	// because answers then have more details than answers of kube-apiserver.
	TestAPIs bool

	// UI serves the page at /ui (docs/page.md), which shows objects, and with TestAPIs conflicts,
	// watches and requests. Its files are served without authentication; they contain no data.
	// Default: off.
	UI bool

	// Clock is the time of the API: of timestamps, expiries, deadlines and schedules. Advance adds
	// to it. A fake clock of k8s.io/utils/clock/testing stops the time. Default: the time of the
	// machine.
	Clock clock.Clock
	// Faults are injected into requests from the end of the start, see Server.Faults.
	Faults []faults.Fault

	// AuditLogPath is the file that the audit log is appended to: events of audit.k8s.io/v1 in
	// JSON, one per line. "-" is the standard output. Default: no audit log.
	AuditLogPath string
	// AuditPolicyFile has the audit.k8s.io/v1 Policy that selects the requests and the content of
	// the audit log. Default: the metadata of every request.
	AuditPolicyFile string

	// ResolveService returns the host:port that serves a port of a Service named in a webhook
	// configuration. Default: its cluster IP or external name.
	ResolveService func(ctx context.Context, namespace, name string, port int32) (address string, err error)

	// TracingConfigFile has the TracingConfiguration of apiserver.config.k8s.io/v1 that selects the
	// requests that are traced and the collector. Default: no request is traced.
	TracingConfigFile string
	// Profiling serves profiles of the process at /debug/pprof, to users who may get that
	// non-resource URL. Default: off.
	Profiling bool
	// OutgoingAllow lists the addresses that the server may connect to for webhooks, APIServices
	// and token issuers: CIDRs, IP addresses and host names, each optionally with a port. Default:
	// all.
	OutgoingAllow []string

	// Logger takes the log of the server and of the embedded etcd. The records of etcd below
	// warnings have levels below slog.LevelDebug. Default: no log.
	Logger *slog.Logger
	// LogRequests logs a line for each request at level Info, also if Logger is not enabled for
	// that level. A watch is logged when it ends. Default: requests are logged if Logger is enabled
	// for slog.LevelDebug.
	LogRequests bool
	// RecentRequests is the number of requests that Requests returns at most. Default: none.
	RecentRequests int
}

// AuthorizationMode selects one of the modes below, or several separated by commas, such as
// "Node,RBAC". The modes are evaluated in order; the first one that allows or denies a request
// decides. Members of system:masters are allowed everything in every mode.
type AuthorizationMode string

const (
	// AlwaysAllow allows every request.
	AlwaysAllow AuthorizationMode = authz.ModeAlwaysAllow
	// AlwaysDeny allows no request. A later mode in the list still can.
	AlwaysDeny AuthorizationMode = authz.ModeAlwaysDeny
	// RBAC decides by Roles, ClusterRoles and their bindings. Common roles of kube-apiserver such
	// as cluster-admin, admin, edit and view are among the bootstrap objects.
	RBAC AuthorizationMode = authz.ModeRBAC
	// Node allows a kubelet, a user system:node:NAME in the group system:nodes, to access its node,
	// its pods, and the objects that its pods use. Other users are left to the next mode.
	Node AuthorizationMode = authz.ModeNode
	// Webhook sends SubjectAccessReviews to the server of AuthorizationWebhook.
	Webhook AuthorizationMode = authz.ModeWebhook
)

// AuthorizationWebhook names the server that authorizes requests, see the flags
// --authorization-webhook-* of kube-apiserver.
type AuthorizationWebhook = authz.WebhookConfig

// PodsMode selects the lifecycle of pods.
type PodsMode = controllers.PodsMode

const (
	// PodsManual leaves pods as they are: a client binds them and writes their status.
	PodsManual = controllers.PodsManual
	// PodsInstant binds pods to nodes, and makes them ready, completed or terminated at once. No
	// container is executed.
	PodsInstant = controllers.PodsInstant
)

// outgoing returns the policy of connections to other servers.
func (c Config) outgoing() (*outgoing.Policy, error) { return outgoing.ParsePolicy(c.OutgoingAllow) }

func (c Config) features() feature.Config {
	return feature.Config{EmulatedVersion: c.EmulatedVersion, Gates: c.FeatureGates}
}

// admission returns the selection and the configuration of the admission plugins.
func (c Config) admission() admission.Config {
	return admission.Config{
		Enable: c.EnableAdmissionPlugins, Disable: c.DisableAdmissionPlugins, ControlConfigFile: c.AdmissionControlConfigFile,
	}
}

// authorization returns the selected authorizers.
func (c Config) authorization() authz.Selection {
	return authz.Selection{Modes: authz.Modes(c.Authorization), Webhook: c.AuthorizationWebhook, File: c.AuthorizationConfig}
}

// defaultRetention is how long history is kept in a data directory or a cluster.
const defaultRetention = 5 * time.Minute

// withDefaults returns the config with all defaults set.
func (c Config) withDefaults() Config {
	if c.Listen == "" && c.Secure == nil {
		c.Listen = "127.0.0.1:0"
	}
	if c.Secure != nil {
		c.Secure = c.Secure.withDefaults()
	}
	if c.AuthorizationConfig == "" {
		c.Authorization = cmp.Or(c.Authorization, AlwaysAllow)
	}
	c.MaxRequestsInFlight = cmp.Or(c.MaxRequestsInFlight, 400)
	c.MaxMutatingRequestsInFlight = cmp.Or(c.MaxMutatingRequestsInFlight, 200)
	c.EtcdPrefix = path.Join("/", cmp.Or(c.EtcdPrefix, "registry"))
	if c.CompactionInterval == 0 {
		c.CompactionInterval = defaultRetention
		if c.readOnly() || c.DataDir == "" && len(c.EtcdServers) == 0 {
			c.CompactionInterval = -1
		}
	}
	c.ServiceClusterIPRange = cmp.Or(c.ServiceClusterIPRange, "10.0.0.0/24")
	c.ServiceNodePortRange = cmp.Or(c.ServiceNodePortRange, "30000-32767")
	c.Bootstrap = cmp.Or(c.Bootstrap, bootstrap.Minimal)
	if c.readOnly() {
		c.Controllers = []string{controllers.None}
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// requestLog returns the configuration of the log of requests and the list of recent requests.
func (c Config) requestLog() requestlog.Config {
	config := requestlog.Config{Keep: c.RecentRequests}
	if c.LogRequests || c.Logger.Enabled(context.Background(), slog.LevelDebug) {
		config.Logger = c.Logger
	}
	return config
}

// tracing returns the configuration of the exporter of spans.
func (c Config) tracing() export.Config { return export.Config{File: c.TracingConfigFile} }

// audit returns the configuration of the audit log.
func (c Config) audit() audit.Config {
	return audit.Config{Path: c.AuditLogPath, PolicyFile: c.AuditPolicyFile, Logger: c.Logger}
}

// startsMinimal reports whether the server starts with the objects of bootstrap.Minimal and no
// others.
func (c Config) startsMinimal() bool {
	return c.Bootstrap == bootstrap.Minimal && c.DataDir == "" && len(c.EtcdServers) == 0 && c.Snapshot == nil && !c.readOnly()
}

// logger returns the logger of a component.
func (c Config) logger(component string) *slog.Logger { return c.Logger.With("component", component) }
