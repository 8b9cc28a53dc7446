package certs

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadInterval is the minimum time between two reads of the files.
const reloadInterval = time.Second

// Reloaded is a value that was loaded from files, such as a certificate. It is loaded again when
// the content of the files has changed. No goroutine watches the files: Get reads them. Safe for
// concurrent use.
type Reloaded[T any] struct {
	paths  []string
	load   func() (T, error)
	logger *slog.Logger

	mu      sync.Mutex // guards the fields below
	value   T
	hash    [sha256.Size]byte // of the content from which value was loaded
	checked time.Time
	failed  string // the last error, which is logged once
}

// Reload calls load and returns the value. Without paths the value never changes.
func Reload[T any](load func() (T, error), logger *slog.Logger, paths ...string) (*Reloaded[T], error) {
	r := &Reloaded[T]{paths: paths, load: load, logger: logger, checked: time.Now()}
	var err error
	if len(paths) > 0 {
		if r.hash, err = hashFiles(paths); err != nil {
			return nil, err
		}
	}
	r.value, err = load()
	return r, err
}

// Get returns the present value. If the files have changed within the last second, it may be the
// previous one. If the files cannot be loaded, for example because only one of two was replaced,
// the previous value stays and the error is logged.
func (r *Reloaded[T]) Get() T {
	if len(r.paths) == 0 {
		return r.value
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.checked) >= reloadInterval {
		r.checked = time.Now()
		r.check()
	}
	return r.value
}

// check loads the value if the files have changed. The hash is taken first, so that a later change
// is noticed.
func (r *Reloaded[T]) check() {
	hash, err := hashFiles(r.paths)
	if err == nil && hash == r.hash {
		return
	}
	var value T
	if err == nil {
		value, err = r.load()
	}
	if err != nil {
		if err.Error() != r.failed {
			r.logger.Error("changed files were not loaded, the previous content stays in effect", "files", r.paths, "error", err)
		}
		r.failed = err.Error()
		return
	}
	r.value, r.hash, r.failed = value, hash, ""
	r.logger.Info("changed files were loaded", "files", r.paths)
}

func hashFiles(paths []string) (hash [sha256.Size]byte, err error) {
	all := sha256.New()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return hash, err
		}
		sum := sha256.Sum256(data)
		all.Write(sum[:])
	}
	return [sha256.Size]byte(all.Sum(nil)), nil
}
