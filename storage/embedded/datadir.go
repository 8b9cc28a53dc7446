package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/server/v3/storage/datadir"

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
	// openAttempts bounds the attempts to open a directory that other servers remove.
	openAttempts = 10
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
	for attempt := 1; ; attempt++ {
		if err = d.create(); err == nil {
			err = d.claim(known)
		}
		// A server whose start has failed may be removing the directory.
		if !errors.Is(err, fs.ErrNotExist) || attempt == openAttempts {
			return err
		}
	}
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

// claim locks the directory and checks its content. The content is also checked before, because a
// directory that is rejected must not get a lock file. A server that is starting may have created
// files, but no directory of etcd yet.
func (d *dataDir) claim(known []string) error {
	rejection, flags := d.checkContent(known), os.O_RDWR
	switch {
	case rejection == nil:
		flags |= os.O_CREATE
	case !errors.Is(rejection, ErrForeign):
		return rejection
	}
	lock, err := filelock.TryLockName(d.lockPath(), flags)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return ErrInUse
	case rejection != nil && errors.Is(err, fs.ErrNotExist):
		return rejection
	case err != nil:
		return err
	}
	d.lock = lock
	return d.checkContent(known)
}

func (d *dataDir) lockPath() string { return filepath.Join(d.path, lockName) }

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
// start that failed. If another server has locked it in the meantime, the directory stays.
func (d *dataDir) close() error {
	if d.temp != nil {
		return d.temp.Remove()
	}
	var errs []error
	if d.lock != nil {
		if d.created { // the lock file last: no other server uses the directory until then
			errs = append(errs, os.RemoveAll(datadir.ToMemberDir(d.path)), os.RemoveAll(d.lockPath()))
		}
		errs = append(errs, d.lock.Close())
	}
	if d.created {
		_ = os.Remove(d.path) // fails if another server has begun to use it
	}
	return errors.Join(errs...)
}
