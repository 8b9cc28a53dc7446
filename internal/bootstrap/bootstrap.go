package bootstrap

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/internal/suggest"
	"github.com/miniapi/miniapi/kinds/feature"
)

// Mode selects the bootstrap objects.
type Mode string

const (
	// Minimal selects the namespaces, the Service default/kubernetes and its IPAddress.
	Minimal Mode = "minimal"
	// Full selects all objects that a new kube-apiserver creates.
	Full Mode = "full"
)

// Validate returns an error for an unknown mode.
func (m Mode) Validate() error {
	if m != Minimal && m != Full {
		return fmt.Errorf("bootstrap %q is neither %q nor %q%s", m, Minimal, Full,
			suggest.DidYouMean(string(m), []string{string(Minimal), string(Full)}))
	}
	return nil
}

// Config configures the bootstrap objects. The zero value is usable.
type Config struct {
	// ServiceRanges are the ranges of cluster IPs, the primary one first. Empty: 10.0.0.0/24. The
	// Service default/kubernetes gets the first address of the primary range.
	ServiceRanges []netip.Prefix
	// AccessRoles adds the RBAC roles of users, of kube-controller-manager and of kube-scheduler,
	// and their default bindings, to mode Minimal. Full includes them.
	AccessRoles bool
	// Release selects the prepared objects. 0: the latest release.
	Release feature.Release
	// Port is the port of the server. 0: 443.
	Port int
	// Advertise is the address of the server for clients inside of the cluster. Mode Full creates
	// Endpoints and an EndpointSlice of the Service with it, unless it is invalid, or a loopback or
	// link-local address, which validation of endpoints rejects.
	Advertise netip.Addr
	// Shared is set if other servers may use the same storage.
	Shared bool
	// Authentication is the content of AuthenticationConfigMap. Nil: no such ConfigMap.
	Authentication *Authentication
	// Now returns the creation time. Nil: time.Now.
	Now func() time.Time
}

// Object is one object as it is stored.
type Object struct {
	// Key is a key such as /namespaces/default, without the prefix of the storage.
	Key string
	// Value is the stored value, encoded with the codec of its kind.
	Value []byte
}

// Objects returns the bootstrap objects, namespaces first. Each has a new UID.
func Objects(mode Mode, cfg Config) ([]Object, error) {
	if err := mode.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	address, err := firstAddress(cfg.ServiceRanges[0])
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	c := &collector{now: metav1.NewTime(cfg.Now().Truncate(time.Second))}
	for _, obj := range minimalObjects(address, cfg.Port) {
		c.add(obj)
	}
	if cfg.Authentication != nil {
		c.add(cfg.Authentication.configMap())
	}
	if mode == Full {
		for _, obj := range networkObjects(c.now, cfg) {
			c.add(obj)
		}
		c.addPrepared(cfg.Release)
	} else if cfg.AccessRoles {
		c.addAccessRoles(cfg.Release)
	}
	if c.err != nil {
		return nil, fmt.Errorf("bootstrap: %w", c.err)
	}
	return c.objects, nil
}

func (c Config) withDefaults() Config {
	if len(c.ServiceRanges) == 0 {
		c.ServiceRanges = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, 0}), 24)}
	}
	c.Release = cmp.Or(c.Release, feature.Latest)
	c.Port = cmp.Or(c.Port, 443)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// firstAddress returns the first address after the network address.
func firstAddress(services netip.Prefix) (netip.Addr, error) {
	first := services.Masked().Addr().Next()
	if !services.Contains(first) {
		return netip.Addr{}, fmt.Errorf("service range %s has no address for the Service default/kubernetes", services)
	}
	return first, nil
}
