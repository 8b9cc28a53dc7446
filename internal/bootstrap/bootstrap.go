package bootstrap

import (
	"fmt"
	"net/netip"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mode says how much there is from the start.
type Mode string

const (
	// Minimal has the namespaces, the Service default/kubernetes and the
	// IPAddress that it has taken.
	Minimal Mode = "minimal"
	// Full has what a fresh kube-apiserver creates.
	Full Mode = "full"
)

// Config is what the objects depend on. The zero value is usable.
type Config struct {
	// ServiceRanges give services their addresses, the primary one first.
	// Empty: 10.0.0.0/24. The first address of the primary one is that of the
	// Service default/kubernetes.
	ServiceRanges []netip.Prefix
	// AccessRoles adds to mode Minimal the roles that people are given, those
	// that everybody has, and their bindings: what a server needs that decides
	// by roles. Full has them among all others.
	AccessRoles bool
	// Port that the server listens on. 0: 443.
	Port int
	// Advertise is where clients inside a cluster reach the server: the
	// endpoint of the Service in mode Full. Where it is not valid, or a
	// loopback address, which no endpoint may have, there are no Endpoints and
	// EndpointSlice.
	Advertise netip.Addr
	// Now returns the time of creation. Nil: time.Now.
	Now func() time.Time
}

// Object is one object as it lies in storage.
type Object struct {
	// Key such as /namespaces/default, without the prefix of the storage.
	Key string
	// Value as the codec of its kind writes it.
	Value []byte
}

// Objects returns what exists from the start, namespaces first, each object
// with a uid of its own.
func Objects(mode Mode, cfg Config) ([]Object, error) {
	if mode != Minimal && mode != Full {
		return nil, fmt.Errorf("bootstrap: mode %q is neither %q nor %q", mode, Minimal, Full)
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
	if mode == Full {
		for _, obj := range networkObjects(c.now, cfg) {
			c.add(obj)
		}
		c.addPrepared()
	} else if cfg.AccessRoles {
		c.addAccessRoles()
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
	if c.Port == 0 {
		c.Port = 443
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// firstAddress returns the address behind that of the network itself.
func firstAddress(services netip.Prefix) (netip.Addr, error) {
	first := services.Masked().Addr().Next()
	if !services.Contains(first) {
		return netip.Addr{}, fmt.Errorf("service range %s has no address for the Service default/kubernetes", services)
	}
	return first, nil
}
