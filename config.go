package miniapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/miniapi/miniapi/admission/plugin"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/loopback"
	"github.com/miniapi/miniapi/internal/manifests"
	"github.com/miniapi/miniapi/storage/embedded"
)

// Config of a server. The zero value is a server for a test: a free port on
// loopback, an embedded etcd in a temporary directory, no log.
type Config struct {
	// Listen is HOST:PORT for plain HTTP, where everybody is the administrator;
	// port 0 takes a free one. Default: 127.0.0.1:0, or none beside Secure.
	Listen string
	// AllowUnauthenticatedNetworkAccess permits a Listen host that is not
	// loopback, although whoever can reach it may then do everything.
	AllowUnauthenticatedNetworkAccess bool
	// Secure serves HTTPS to users who say who they are. Default: it does not.
	Secure *Secure
	// Authorization says who may do what. Default: AlwaysAllow.
	Authorization AuthorizationMode
	// EnableAdmissionPlugins and DisableAdmissionPlugins name steps of admission,
	// as kube-apiserver does, that look at writes, or do not, whatever the
	// default. Default: those of kube-apiserver but ServiceAccount.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// MaxRequestsInFlight and MaxMutatingRequestsInFlight limit how many requests
	// are worked on at a time. Administrators are exempt over HTTPS, where they have
	// been authenticated. Default: 400 and 200; negative: any number.
	MaxRequestsInFlight, MaxMutatingRequestsInFlight int

	// DataDir keeps the embedded etcd's data, synced to disk on every write.
	// Default: a temporary directory without syncing, removed by Stop.
	DataDir string
	// EtcdListenClientURLs are addresses such as http://127.0.0.1:2379 at which
	// the embedded etcd answers etcdctl. Default: none.
	EtcdListenClientURLs []string
	// EtcdServers are the client URLs of an etcd cluster to use instead of an
	// embedded etcd. The server is then stateless.
	EtcdServers []string
	// EtcdTLS is for EtcdServers that speak https.
	EtcdTLS *tls.Config
	// EtcdQuotaBackendBytes bounds the size of the embedded etcd's database. Its
	// history is compacted before the time when the database grows towards it, and
	// writes are refused where the objects alone need it. Default: 2 GiB.
	EtcdQuotaBackendBytes int64
	// EtcdPrefix comes before all keys; a slash at its beginning may be left out.
	// Default: /registry.
	EtcdPrefix string
	// CompactionInterval is how long history is kept: a watch or list at a
	// revision older than this may be answered with 410. Default: 5 minutes;
	// negative: for ever.
	CompactionInterval time.Duration

	// ServiceClusterIPRange is a CIDR, or two of different IP families with a
	// comma between them, the primary one first. Default: 10.0.0.0/24.
	ServiceClusterIPRange string
	// ServiceNodePortRange is FIRST-LAST of the ports by which services are reached
	// through every node. Default: 30000-32767.
	ServiceNodePortRange string
	// Bootstrap says which objects exist from the start. Default:
	// bootstrap.Minimal, the namespaces and the Service default/kubernetes.
	Bootstrap bootstrap.Mode
	// CRDs are files and folders of CustomResourceDefinitions that are served from
	// the start, as by InstallCRDs.
	CRDs []string
	// Manifests is a folder whose objects exist from the start. They are applied
	// (server-side, as field manager "miniapi"), and again when a file changes; an
	// object that is no longer in any file stays. Default: none.
	Manifests string

	// ResolveService returns the host:port at which a port of a Service can be
	// reached that a webhook names. Default: its cluster IP or external name.
	ResolveService func(ctx context.Context, namespace, name string, port int32) (address string, err error)

	// Logger takes the server's and the embedded etcd's log. Default: none.
	Logger *slog.Logger
}

// withDefaults returns the config with every default in place.
func (c Config) withDefaults() Config {
	if c.Listen == "" && c.Secure == nil {
		c.Listen = "127.0.0.1:0"
	}
	if c.Secure != nil {
		c.Secure = c.Secure.withDefaults()
	}
	c.Authorization = cmp.Or(c.Authorization, AlwaysAllow)
	c.MaxRequestsInFlight = cmp.Or(c.MaxRequestsInFlight, 400)
	c.MaxMutatingRequestsInFlight = cmp.Or(c.MaxMutatingRequestsInFlight, 200)
	c.EtcdPrefix = path.Join("/", cmp.Or(c.EtcdPrefix, "registry"))
	if c.CompactionInterval == 0 {
		c.CompactionInterval = 5 * time.Minute
	}
	if c.ServiceClusterIPRange == "" {
		c.ServiceClusterIPRange = "10.0.0.0/24"
	}
	c.ServiceNodePortRange = cmp.Or(c.ServiceNodePortRange, "30000-32767")
	if c.Bootstrap == "" {
		c.Bootstrap = bootstrap.Minimal
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate returns all faults of the config at once, joined.
func (c Config) Validate() error {
	c = c.withDefaults()
	return errors.Join(
		c.validateListen(),
		c.Secure.validate(),
		c.Authorization.validate(),
		c.admission().Validate(),
		c.validateEtcd(),
		validateServiceRange(c.ServiceClusterIPRange),
		validateNodePorts(c.ServiceNodePortRange),
		validateBootstrap(c.Bootstrap),
		c.validatePaths(),
	)
}

// validatePaths looks for the files that the server is to be filled with.
func (c Config) validatePaths() error {
	var errs []error
	for _, path := range c.CRDs {
		if _, err := os.Stat(path); err != nil {
			errs = append(errs, fmt.Errorf("definitions to serve (--crds): %w", err))
		}
	}
	if c.Manifests != "" {
		if err := manifests.CheckFolder(c.Manifests); err != nil {
			errs = append(errs, fmt.Errorf("manifests to apply (--manifests): %w", err))
		}
	}
	return errors.Join(errs...)
}

// validatePort checks the port of HOST:PORT: a number, or the name of a service.
func validatePort(address, port string) error {
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("address %q: %q is no port: use a number from 0 to 65535", address, port)
	}
	return nil
}

func (c Config) admission() plugin.Config {
	return plugin.Config{
		Enable: c.EnableAdmissionPlugins, Disable: c.DisableAdmissionPlugins,
		Logger: c.Logger.With("component", "admission"),
	}
}

func (c Config) validateListen() error {
	if c.Listen == "" { // there is a secure listener
		return nil
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen address %q is not HOST:PORT, such as 127.0.0.1:8080", c.Listen)
	}
	if err := validatePort(c.Listen, port); err != nil {
		return fmt.Errorf("listen %w", err)
	}
	if !loopback.IsHost(host) && !c.AllowUnauthenticatedNetworkAccess {
		return fmt.Errorf("listen address %q is not on loopback, and whoever can reach it could do everything: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess) if you mean it", c.Listen)
	}
	return nil
}

func (c Config) validateEtcd() error {
	var errs []error
	if len(c.EtcdServers) > 0 && c.DataDir != "" {
		errs = append(errs, errors.New("an etcd cluster (--etcd-servers) and a data directory (--data-dir) exclude each other: the cluster keeps the data"))
	}
	if len(c.EtcdServers) > 0 && len(c.EtcdListenClientURLs) > 0 {
		errs = append(errs, errors.New("--etcd-listen-client-url is for the embedded etcd, which --etcd-servers turns off"))
	}
	if c.EtcdPrefix == "/" {
		errs = append(errs, errors.New("etcd prefix \"/\" is empty: use a path such as /registry"))
	}
	errs = append(errs, c.validateQuota())
	errs = append(errs, embedded.Config{ListenClientURLs: c.EtcdListenClientURLs}.Validate())
	for _, server := range c.EtcdServers {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			errs = append(errs, fmt.Errorf("etcd address %q is not a URL such as http://127.0.0.1:2379", server))
		} else if err := validatePort(server, u.Port()); err != nil {
			errs = append(errs, fmt.Errorf("etcd %w", err))
		}
	}
	return errors.Join(errs...)
}

// minQuota leaves room for some objects of the largest size.
const minQuota = 16 << 20

func (c Config) validateQuota() error {
	switch {
	case c.EtcdQuotaBackendBytes == 0:
		return nil
	case len(c.EtcdServers) > 0:
		return errors.New("--etcd-quota-backend-bytes is for the embedded etcd, which --etcd-servers turns off")
	case c.EtcdQuotaBackendBytes < minQuota:
		return fmt.Errorf("--etcd-quota-backend-bytes %d is too small: use at least %d (16 MiB), or 0 for the default", c.EtcdQuotaBackendBytes, minQuota)
	default:
		return nil
	}
}

func validateBootstrap(mode bootstrap.Mode) error {
	if mode != bootstrap.Minimal && mode != bootstrap.Full {
		return fmt.Errorf("bootstrap %q is neither %q nor %q", mode, bootstrap.Minimal, bootstrap.Full)
	}
	return nil
}
