package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"

	"github.com/miniapi/miniapi/internal/loopback"
)

// Config says where and how an embedded etcd runs. The zero value is a server
// in a temporary directory which nobody outside of this process can reach.
type Config struct {
	// DataDir keeps the data. It is made if it does not exist. Empty: a
	// temporary directory, not synced to disk and removed by Close.
	DataDir string
	// UnsafeNoFsync does not sync DataDir to disk: what was written last may be
	// lost, and the data be damaged, when the machine stops.
	UnsafeNoFsync bool
	// ListenClientURLs are where etcd's clients outside of this process can
	// connect: http URLs of loopback addresses, port 0 for any free one. There
	// is neither TLS nor authentication. Empty: no port at all.
	ListenClientURLs []string
	// QuotaBytes bounds the size of the database; writes beyond it fail. Any but
	// the default is address space that is mapped from the start. 0: etcd's
	// default, 2 GiB.
	QuotaBytes int64
	// Logger gets what etcd logs. Nil discards it.
	Logger *slog.Logger
}

// Validate lists every fault of the configuration.
func (c Config) Validate() error {
	var faults []error
	for _, raw := range c.ListenClientURLs {
		if _, err := listenAddress(raw); err != nil {
			faults = append(faults, err)
		}
	}
	if c.QuotaBytes < 0 {
		faults = append(faults, fmt.Errorf("quota %d: must not be negative", c.QuotaBytes))
	}
	return errors.Join(faults...)
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) temporary() bool { return c.DataDir == "" }

// listenAddress returns the host:port of a client URL.
func listenAddress(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("client URL %q: %w", raw, errors.Unwrap(err))
	}
	if u.Scheme != "http" {
		return "", fmt.Errorf("client URL %q: the scheme must be http", raw)
	}
	if u.User != nil || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("client URL %q: must be http://HOST:PORT", raw)
	}
	if u.Port() == "" {
		return "", fmt.Errorf("client URL %q: has no port", raw)
	}
	if _, err := net.LookupPort("tcp", u.Port()); err != nil {
		return "", fmt.Errorf("client URL %q: %q is no port: use a number from 0 to 65535", raw, u.Port())
	}
	if !loopback.IsHost(u.Hostname()) {
		return "", fmt.Errorf("client URL %q: must be a loopback address, for whoever reaches it can read and write everything", raw)
	}
	return net.JoinHostPort(u.Hostname(), u.Port()), nil
}
