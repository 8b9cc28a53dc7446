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

// debounce is the time without events after which changed files are read. Editors save a file in
// several steps.
const debounce = 50 * time.Millisecond

// Folder applies the manifests of a folder, also when they change.
type Folder struct {
	dir     string
	applier *Applier
	logger  *slog.Logger
	loaded  chan struct{} // closed when Load has succeeded
	// applied holds the contents of the applied files, by name.
	applied map[string][]byte
}

// NewFolder returns a folder whose manifests an applier applies. It starts no goroutine.
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

// Load applies all files of the folder. It must be called once.
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

// Run waits until Load has succeeded, and then applies changed files until ctx ends, and returns
// nil. It logs errors. A file with an error is retried at the next change.
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
	if err != nil { // must not stop the server
		f.logger.ErrorContext(ctx, "manifests: cannot watch the folder for changes", "folder", f.dir, "error", err)
		return nil
	}
	f.watch(ctx, watcher)
	return nil
}

func (f *Folder) watch(ctx context.Context, watcher *fsnotify.Watcher) {
	changed := time.NewTimer(0) // fires at once, for changes since Load
	defer changed.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			changed.Reset(debounce)
		case err := <-watcher.Errors:
			f.logger.WarnContext(ctx, "manifests: changes may have been missed", "folder", f.dir, "error", err)
			changed.Reset(debounce)
		case <-changed.C:
			f.log(ctx, f.applyChanges(ctx))
		}
	}
}

// log logs each joined error separately.
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

// applyChanges applies the files whose content differs from the content applied last.
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
		case errors.Is(err, os.ErrNotExist): // deleted since the listing
		case err != nil:
			return nil, err
		default:
			contents[file] = data
		}
	}
	return contents, nil
}
