package watchcache

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/miniapi/miniapi/storage"
)

// Config is what a Cache needs. Only Log has no default.
type Config struct {
	// Log feeds the cache.
	Log storage.Log
	// WindowEvents and WindowBytes bound the past events that are kept of each
	// resource. Default: 8192, and 16 MiB of stored bytes.
	WindowEvents, WindowBytes int
	// IndexFrom is how many objects a resource must have before a list that asks
	// for one value of a field is answered from an index. Default: 256.
	IndexFrom int
	// Memo keeps what is made of the entries, for all resources. Default: one of
	// storage.DefaultMemo bytes.
	Memo *storage.Memo
	// ProgressInterval is how often a watch with ProgressNotify tells how far
	// the cache has come. Default: 5s.
	ProgressInterval time.Duration
	// Logger hears of it when the log is lost. Default: nobody does.
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

// Validate returns every fault of the configuration at once, nil if there is
// none.
func (c Config) Validate() error {
	var faults []error
	if c.Log == nil {
		faults = append(faults, errors.New("Log: must be set"))
	}
	if c.WindowEvents < 0 || c.WindowBytes < 0 {
		faults = append(faults, errors.New("WindowEvents and WindowBytes: must not be negative"))
	}
	if c.ProgressInterval < 0 {
		faults = append(faults, errors.New("ProgressInterval: must not be negative"))
	}
	return errors.Join(faults...)
}
