package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/miniapi/miniapi/internal/filelock"
	"github.com/miniapi/miniapi/internal/tempdir"
)

// Errors of data directories.
var (
	// ErrInUse is returned when another server, in this or another process, uses the data
	// directory.
	ErrInUse = errors.New("in use by another server")
	// ErrForeign is returned when the data directory contains data other than a
	// single-member etcd.
	ErrForeign = errors.New("not the data of an embedded etcd")
	// ErrCorrupt is returned when files of the data directory are damaged, incomplete or missing.
	ErrCorrupt = errors.New("data is damaged")
)

const (
	lockName  = "miniapi.lock"
	memberDir = "member" // etcd's subdirectory
)

// dataDir is the directory of one etcd. It is locked.
type dataDir struct {
	path      string
	temporary bool
	created   bool         // created by this start, and nothing is stored in it yet
	lock      *os.File     // nil if temp is set
	temp      *tempdir.Dir // nil if the directory is not temporary
}

// openDataDir creates the directory if it does not exist, and locks it. An empty path creates a
// temporary directory. A directory with other files than etcd's and the known names is rejected.
// The result must be closed even if there is an error.
func openDataDir(path string, known ...string) (*dataDir, error) {
	d := &dataDir{path: path, temporary: path == ""}
	if err := d.open(known); err != nil {
		if d.temporary {
			return d, fmt.Errorf("temporary directory: %w", err)
		}
		return d, fmt.Errorf("data directory %s: %w", path, err)
	}
	return d, nil
}

func (d *dataDir) open(known []string) (err error) {
	if d.temporary {
		if d.temp, err = tempdir.New("etcd"); err == nil {
			d.path = d.temp.Path()
		}
		return err
	}
	if err := d.create(); err != nil {
		return err
	}
	if err := d.checkContent(known); err != nil {
		return err
	}
	d.lock, err = filelock.TryLockFile(filepath.Join(d.path, lockName), os.O_RDWR|os.O_CREATE)
	if errors.Is(err, filelock.ErrLocked) {
		return ErrInUse
	}
	return err
}

func (d *dataDir) create() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(d.path, 0o700)
	d.created = err == nil
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// checkContent rejects a directory that contains files but no directory of etcd.
func (d *dataDir) checkContent(known []string) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	// The root of a file system contains lost+found.
	known = append([]string{lockName, "lost+found"}, known...)
	foreign := false
	for _, entry := range entries {
		if entry.Name() == memberDir {
			return nil
		}
		foreign = foreign || !slices.Contains(known, entry.Name())
	}
	if foreign {
		return fmt.Errorf("%w: it contains files, but no directory %q", ErrForeign, memberDir)
	}
	return nil
}

// keep records that the directory contains data, so that close does not remove it.
func (d *dataDir) keep() { d.created = false }

// close unlocks the directory. It removes the directory if it is temporary, or was created for a
// start that failed.
func (d *dataDir) close() error {
	if d.temp != nil {
		return d.temp.Remove()
	}
	var err error
	if d.lock != nil {
		err = d.lock.Close()
	}
	if d.path != "" && d.created {
		err = errors.Join(err, os.RemoveAll(d.path))
	}
	return err
}
