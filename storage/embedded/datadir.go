package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Errors about a data directory.
var (
	// ErrInUse is returned when another server, in this or another process,
	// works on the data directory.
	ErrInUse = errors.New("in use by another server")
	// ErrForeign is returned when the data directory holds something that is
	// not the data of a single etcd.
	ErrForeign = errors.New("not the data of an embedded etcd")
	// ErrCorrupt is returned when files of the data directory are damaged,
	// incomplete or missing.
	ErrCorrupt = errors.New("data is damaged")
)

const (
	lockName  = "miniapi.lock"
	memberDir = "member" // what etcd makes in its data directory
)

// dataDir is a directory for one etcd, locked unless it is temporary and so
// nobody else's business.
type dataDir struct {
	path      string
	temporary bool
	made      bool // it did not exist, and nothing has been stored in it yet
	lock      *fileutil.LockedFile
}

// openDataDir makes the directory if need be and locks it. An empty path makes
// a temporary one. Files are refused unless they are etcd's or of a known
// name. The result must be closed in case of an error too.
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
		d.path, err = os.MkdirTemp("", "miniapi-")
		return err
	}
	if err := d.make(); err != nil {
		return err
	}
	if err := d.checkOwner(known); err != nil {
		return err
	}
	d.lock, err = fileutil.TryLockFile(filepath.Join(d.path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return ErrInUse
	}
	return err
}

func (d *dataDir) make() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(d.path, 0o700)
	d.made = err == nil
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// checkOwner refuses a directory with files, none of which are etcd's.
func (d *dataDir) checkOwner(known []string) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	known = append([]string{lockName, "lost+found"}, known...) // the latter is in the root of a file system
	foreign := false
	for _, entry := range entries {
		if entry.Name() == memberDir {
			return nil
		}
		foreign = foreign || !slices.Contains(known, entry.Name())
	}
	if foreign {
		return fmt.Errorf("%w: it holds files, but no directory %q", ErrForeign, memberDir)
	}
	return nil
}

// keep says that the directory now holds data.
func (d *dataDir) keep() { d.made = false }

// close gives the directory up. It is removed if it is temporary, or was made
// for a start that failed.
func (d *dataDir) close() error {
	var err error
	if d.lock != nil {
		err = d.lock.Close()
	}
	if d.path != "" && (d.temporary || d.made) {
		err = errors.Join(err, os.RemoveAll(d.path))
	}
	return err
}
