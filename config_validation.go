package miniapi

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/miniapi/miniapi/controllers"
	"github.com/miniapi/miniapi/internal/loopback"
	"github.com/miniapi/miniapi/internal/manifests"
	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Validate returns all errors of the config, joined.
func (c Config) Validate() error {
	authorizationErr := c.validateAuthorization()
	c = c.withDefaults()
	_, rangeErr := serviceip.ParseRanges(c.ServiceClusterIPRange)
	_, outgoingErr := c.outgoing()
	_, portsErr := serviceip.ParseNodePorts(c.ServiceNodePortRange)
	return errors.Join(
		c.validateListen(),
		c.Secure.validate(),
		authorizationErr,
		c.admission().Validate(),
		controllers.Config{Enabled: c.Controllers, Pods: c.Pods}.Validate(),
		c.features().Validate(),
		c.validateEtcd(),
		c.validateReadOnly(),
		c.validateEncryption(),
		c.audit().Validate(),
		c.tracing().Validate(),
		rangeErr,
		portsErr,
		outgoingErr,
		c.Bootstrap.Validate(),
		manifests.Config{CRDs: c.CRDs, Folder: c.Manifests}.Validate(),
		faults.Validate(c.Faults),
	)
}

func (c Config) validateAuthorization() error {
	if c.AuthorizationConfig != "" && (c.Authorization != "" || c.AuthorizationWebhook != AuthorizationWebhook{}) {
		return errors.New("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")
	}
	return c.withDefaults().authorization().Validate()
}

// validatePort checks the port of an address: a number or a service name.
func validatePort(address, port string) error {
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("address %q: port %q is invalid: use a number from 0 to 65535", address, port)
	}
	return nil
}

func (c Config) validateListen() error {
	if c.Listen == "" { // only HTTPS is served
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
		return fmt.Errorf("listen address %q is not on loopback, and its clients would have full access: use 127.0.0.1, or set --allow-unauthenticated-network-access (Config.AllowUnauthenticatedNetworkAccess)", c.Listen)
	}
	return nil
}

func (c Config) validateEtcd() error {
	var errs []error
	cluster := len(c.EtcdServers) > 0
	if cluster && c.DataDir != "" {
		errs = append(errs, errors.New("--data-dir is for the embedded etcd: remove it, or remove --etcd-servers"))
	}
	if cluster && len(c.EtcdListenClientURLs) > 0 {
		errs = append(errs, errors.New("--etcd-listen-client-url is for the embedded etcd: remove it, or remove --etcd-servers"))
	}
	if c.Snapshot != nil && (cluster || c.DataDir != "") {
		errs = append(errs, errors.New("Config.Snapshot is for an empty etcd: remove DataDir and EtcdServers"))
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

// minQuota has room for a few objects of the maximum size.
const minQuota = 16 << 20

func (c Config) validateQuota() error {
	switch {
	case c.EtcdQuotaBackendBytes == 0:
		return nil
	case len(c.EtcdServers) > 0:
		return errors.New("--etcd-quota-backend-bytes is for the embedded etcd: remove it, or remove --etcd-servers")
	case c.EtcdQuotaBackendBytes < minQuota:
		return fmt.Errorf("--etcd-quota-backend-bytes %d is too small: use at least %d (16 MiB), or 0 for the default", c.EtcdQuotaBackendBytes, minQuota)
	default:
		return nil
	}
}
