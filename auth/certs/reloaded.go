package certs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/miniapi/miniapi/internal/collectors"
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
	hash    string // of the content from which value was loaded
	checked time.Time
	failed  failure // the last one, which is logged and counted once
	reloads *collectors.Reloads
}

// failure is a content that was not loaded.
type failure struct {
	hash, err string
	// retry is set if a file could not be read, perhaps one that the content names.
	retry bool
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
// is noticed. A content that cannot be loaded is loaded once.
func (r *Reloaded[T]) check() {
	hash, err := hashFiles(r.paths)
	if err == nil && hash == r.hash {
		r.failed = failure{}
		return
	}
	if err == nil && hash == r.failed.hash && !r.failed.retry {
		return
	}
	var value T
	if err == nil {
		value, err = r.load()
	}
	if err != nil {
		var unread *fs.PathError
		if failed := (failure{hash, err.Error(), errors.As(err, &unread)}); failed != r.failed {
			r.failed = failed
			r.reloads.Failed()
			r.logger.Error("changed files were not loaded, the previous content stays in effect", "files", r.paths, "error", err)
		}
		return
	}
	r.value, r.hash, r.failed = value, hash, failure{}
	r.reloads.Succeeded(hash)
	r.logger.Info("changed files were loaded", "files", r.paths)
}

// Collector returns the metrics of the reloads of a configuration, see collectors.NewReloads, and
// none without paths. It is called once. Each scrape checks the file, so that a changed file counts
// although nothing uses the value.
func (r *Reloaded[T]) Collector(configuration string) prometheus.Collector {
	if len(r.paths) == 0 {
		return collectors.All{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reloads = collectors.NewReloads(configuration)
	r.reloads.SetHash(r.hash)
	return checkedReloads{r.reloads, func() { r.Get() }}
}

// checkedReloads checks the files before it returns the metrics.
type checkedReloads struct {
	*collectors.Reloads
	check func()
}

// Collect implements prometheus.Collector.
func (c checkedReloads) Collect(out chan<- prometheus.Metric) {
	c.check()
	c.Reloads.Collect(out)
}

// hashFiles returns the hash of each file.
func hashFiles(paths []string) (string, error) {
	var hashes []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		hashes = append(hashes, fmt.Sprintf("sha256:%x", sha256.Sum256(data)))
	}
	return strings.Join(hashes, " "), nil
}
