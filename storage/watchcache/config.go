package watchcache

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/miniapi/miniapi/storage"
)

// Config configures a Cache. Only Log has no default.
type Config struct {
	// Log feeds the cache.
	Log storage.Log
	// WindowEvents and WindowBytes limit the past events that are kept for each resource. Default:
	// 8192, and 16 MiB of stored bytes.
	WindowEvents, WindowBytes int
	// IndexFrom is the number of objects from which on a list that selects one value of a field or
	// a label is answered from an index. Default: 256.
	IndexFrom int
	// Memo caches decoded objects and encoded bodies of the entries of all resources. Default: a
	// memo of storage.DefaultMemo bytes.
	Memo *storage.Memo
	// ProgressInterval is the interval of the bookmarks of a watch with ProgressNotify. Default:
	// 5s.
	ProgressInterval time.Duration
	// Logger receives a warning when the log is lost. Default: none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.WindowEvents = cmp.Or(c.WindowEvents, 8192)
	c.WindowBytes = cmp.Or(c.WindowBytes, 16<<20)
	c.IndexFrom = cmp.Or(c.IndexFrom, 256)
	if c.Memo == nil {
		c.Memo = storage.NewMemo(storage.DefaultMemo)
	}
	c.ProgressInterval = cmp.Or(c.ProgressInterval, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate returns all errors of the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Log == nil {
		errs = append(errs, errors.New("Log: must be set"))
	}
	if c.WindowEvents < 0 || c.WindowBytes < 0 {
		errs = append(errs, errors.New("WindowEvents and WindowBytes: must not be negative"))
	}
	if c.ProgressInterval < 0 {
		errs = append(errs, errors.New("ProgressInterval: must not be negative"))
	}
	return errors.Join(errs...)
}
