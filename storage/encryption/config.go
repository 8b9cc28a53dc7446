package encryption

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defaultReloadInterval is shorter than the minute of kube-apiserver, because the check is cheap
// and tests wait for it.
const defaultReloadInterval = time.Second

// Config configures an Encryption. Only File has no default.
type Config struct {
	// File is the path of an EncryptionConfiguration of apiserver.config.k8s.io/v1.
	File string
	// AutomaticReload loads the file again when its content has changed.
	AutomaticReload bool
	// Prefix is the prefix of all keys, with a leading slash and no trailing one. Default:
	// "/registry".
	Prefix string
	// Resources has the resources by the path of their keys, such as "pods" or "services/specs".
	// Paths of the form GROUP/RESOURCE may be missing if the group contains a dot.
	Resources map[string]schema.GroupResource
	// ReloadInterval is the interval at which the content of the file is checked. Default: 1s.
	ReloadInterval time.Duration
	// Logger logs reloads and the failures of KMS plugins. Default: no log.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, "/registry")
	c.ReloadInterval = cmp.Or(c.ReloadInterval, defaultReloadInterval)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Validate returns all errors of the configuration, nil if it is valid. It loads the file.
func (c Config) Validate() error {
	if c.File == "" {
		return errors.New("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")
	}
	_, err := loadFile(c.File, c.AutomaticReload)
	return err
}

// warnOfMode logs a warning if other users can read the file.
func (c Config) warnOfMode() {
	info, err := os.Stat(c.File)
	if err == nil && info.Mode().Perm()&0o077 != 0 && modesAreKept {
		c.Logger.Warn(fmt.Sprintf("the encryption configuration %s has keys and is readable by other users: run chmod 600 %s", c.File, c.File), "mode", info.Mode().Perm())
	}
}
