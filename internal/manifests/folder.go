package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is how long nothing must happen to the files before they are read: to
// save one takes an editor several steps.
const quiet = 50 * time.Millisecond

// Folder keeps a server in step with a folder of manifests.
type Folder struct {
	dir     string
	applier *Applier
	logger  *slog.Logger
	loaded  chan struct{} // closed when Load has succeeded
	// applied are the contents of the files that were applied, by name.
	applied map[string][]byte
}

// NewFolder returns a folder whose manifests an applier applies. It starts
// nothing.
func NewFolder(dir string, applier *Applier, logger *slog.Logger) *Folder {
	return &Folder{dir: dir, applier: applier, logger: logger, loaded: make(chan struct{}), applied: map[string][]byte{}}
}

// CheckFolder returns an error if a path is not a folder.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder of manifests", path)
	}
	return err
}

// Load applies everything that is in the folder. It is called once.
func (f *Folder) Load(ctx context.Context) error {
	if err := CheckFolder(f.dir); err != nil {
		return err
	}
	if err := f.applyChanges(ctx); err != nil {
		return err
	}
	close(f.loaded)
	return nil
}

// Run applies, once Load has succeeded, the files that change, until ctx ends,
// which is no error. What is wrong with a file is logged, and tried again with
// the next change.
func (f *Folder) Run(ctx context.Context) error {
	select {
	case <-f.loaded:
	case <-ctx.Done():
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		err = watcher.Add(f.dir)
	}
	if err != nil { // no reason for a server to end
		f.logger.ErrorContext(ctx, "manifests: changes will not be noticed", "folder", f.dir, "error", err)
		return nil
	}
	f.follow(ctx, watcher)
	return nil
}

func (f *Folder) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	changed := time.NewTimer(0) // at once: for what changed since Load
	defer changed.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			changed.Reset(quiet)
		case err := <-watcher.Errors:
			f.logger.WarnContext(ctx, "manifests: changes may have been missed", "folder", f.dir, "error", err)
			changed.Reset(quiet)
		case <-changed.C:
			f.log(ctx, f.applyChanges(ctx))
		}
	}
}

// log writes a line for each error that was joined.
func (f *Folder) log(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			f.log(ctx, err)
		}
		return
	}
	if err != nil {
		f.logger.ErrorContext(ctx, "manifests: not applied", "error", err)
	}
}

// applyChanges applies the files whose content is not what was applied last.
func (f *Folder) applyChanges(ctx context.Context) error {
	contents, err := f.read()
	if err != nil {
		return err
	}
	var objects []Object
	var errs []error
	applied := map[string][]byte{}
	for _, file := range slices.Sorted(maps.Keys(contents)) {
		if known, ok := f.applied[file]; ok && bytes.Equal(known, contents[file]) {
			applied[file] = known
			continue
		}
		found, err := parse(file, contents[file])
		objects, errs = append(objects, found...), append(errs, err)
	}
	if err := errors.Join(append(errs, f.applier.Apply(ctx, objects))...); err != nil {
		f.applied = applied
		return err
	}
	f.applied = contents
	return nil
}

// read returns the contents of the folder's manifests by name.
func (f *Folder) read() (map[string][]byte, error) {
	files, err := filesOf(f.dir)
	if err != nil {
		return nil, err
	}
	contents := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		switch {
		case errors.Is(err, os.ErrNotExist): // it went in between
		case err != nil:
			return nil, err
		default:
			contents[file] = data
		}
	}
	return contents, nil
}
