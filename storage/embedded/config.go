package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"

	"github.com/miniapi/miniapi/internal/loopback"
)

// Config configures an embedded etcd. The zero value is a server in a temporary directory that
// other processes cannot connect to.
type Config struct {
	// DataDir is the data directory. It is created if it does not exist. Empty: a temporary
	// directory, which is not synced to disk and which Close removes.
	DataDir string
	// Snapshot is a snapshot of an etcd, whose copy in the temporary directory the server begins
	// with: a file, or the data directory of an etcd that does not run; see Restore. The quota must
	// exceed its size, or be 0. It is for an empty DataDir. Empty: the server begins without keys.
	Snapshot string
	// UnsafeNoFsync disables syncing DataDir to disk: if the machine stops, the last writes may be
	// lost and the data may be damaged.
	UnsafeNoFsync bool
	// ListenClientURLs are the addresses for etcd clients of other processes: http URLs of
	// loopback addresses; port 0 selects a free port. There is no TLS and no authentication.
	// Empty: no port.
	ListenClientURLs []string
	// QuotaBytes limits the size of the database; writes beyond it fail. A value other than 0 is
	// mapped as address space from the start. 0: etcd's default, 2 GiB.
	QuotaBytes int64
	// BeforeCompaction is called before history is removed to keep the quota. Nil: nothing is
	// called.
	BeforeCompaction func(ctx context.Context)
	// Logger receives etcd's log. Nil discards it.
	Logger *slog.Logger
}

// Validate returns all errors of the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	for _, raw := range c.ListenClientURLs {
		if _, err := listenAddress(raw); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Snapshot != "" && c.DataDir != "" {
		errs = append(errs, errors.New("a snapshot is served from a temporary directory, not from a data directory: use Restore"))
	}
	if c.QuotaBytes < 0 {
		errs = append(errs, fmt.Errorf("quota %d: must not be negative", c.QuotaBytes))
	}
	return errors.Join(errs...)
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
		return "", fmt.Errorf("client URL %q: %q is not a port: use a number from 0 to 65535", raw, u.Port())
	}
	if !loopback.IsHost(u.Hostname()) {
		return "", fmt.Errorf("client URL %q: must be a loopback address, since access is not authenticated", raw)
	}
	return net.JoinHostPort(u.Hostname(), u.Port()), nil
}
