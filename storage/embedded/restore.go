package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/schema"

	"github.com/miniapi/miniapi/internal/filelock"
	"github.com/miniapi/miniapi/storage/embedded/internal/boltcheck"
)

// partialDir contains a restored member until it is complete.
const partialDir = memberDir + ".partial"

// Restore creates a data directory from a snapshot of an etcd cluster of any size: a file written
// by etcdctl snapshot save, a copy of member/snap/db, or the data directory of a member that does
// not run. It keeps keys, leases, revisions and history, but not the members of the cluster and the
// position in its log. The data directory must be empty or missing; Start can then serve it. A
// failed restore leaves the directory as it was.
//
// Of a data directory the database is read, which a member completes when it stops. After a crash
// the last writes, 100 ms at most, are in its log only.
//
// Errors: ErrInUse, ErrForeign and fs.ErrExist for the data directory, ErrCorrupt for the snapshot,
// ErrForeign and ErrInUse for a snapshot that is a directory.
func Restore(ctx context.Context, snapshotPath, dataDir string) error {
	if dataDir == "" {
		return errors.New("restore snapshot: no data directory given")
	}
	d, err := openDataDir(dataDir, partialDir)
	if err == nil {
		err = d.restore(ctx, snapshotPath)
	}
	if err = errors.Join(err, d.close()); err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	return nil
}

func (d *dataDir) restore(ctx context.Context, snapshotPath string) error {
	member := datadir.ToMemberDir(d.path)
	if _, err := os.Stat(member); err == nil {
		return &fs.PathError{Op: "restore into", Path: member, Err: fs.ErrExist}
	}
	partial := filepath.Join(d.path, partialDir)
	if err := os.RemoveAll(partial); err != nil { // left by a killed restore
		return err
	}
	defer os.RemoveAll(partial) // if the restore fails
	path := filepath.Join(partial, "snap", "db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := copySnapshot(ctx, snapshotPath, path); err != nil {
		return err
	}
	if err := d.detach(path); err != nil {
		return fmt.Errorf("snapshot %s: %w", snapshotPath, err)
	}
	if err := os.Rename(partial, member); err != nil {
		return err
	}
	d.keep()
	if d.temporary {
		return nil
	}
	return syncDir(d.path)
}

// openSnapshot opens a snapshot file, or the database of a data directory, which it locks.
func openSnapshot(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return os.Open(path)
	}
	for _, database := range []string{datadir.ToBackendFileName(path), filepath.Join(path, "snap", "db")} {
		file, err := os.Open(database)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = filelock.TryLockDatabase(file)
		}
		if errors.Is(err, filelock.ErrLocked) {
			err = fmt.Errorf("%s: %w", path, ErrInUse)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
	return nil, fmt.Errorf("%s: %w: there is no file member/snap/db", path, ErrForeign)
}

// copySnapshot checks a snapshot and copies its database.
func copySnapshot(ctx context.Context, from, to string) error {
	source, err := openSnapshot(from)
	if err != nil {
		return err
	}
	defer source.Close() // opened for reading
	info, err := source.Stat()
	if err != nil {
		return err
	}
	size, err := verifyChecksum(source, info.Size())
	if err != nil {
		return damaged(ctx, from, err)
	}
	if err := boltcheck.Walk(ctx, source, size, new(database).visit); err != nil {
		return damaged(ctx, from, err)
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, io.NewSectionReader(source, 0, size))
	return errors.Join(err, target.Close())
}

// verifyChecksum returns the size of the database in a snapshot. The size of the pages is a
// multiple of 512 bytes; another 32 bytes are a checksum.
func verifyChecksum(file io.ReaderAt, size int64) (int64, error) {
	switch size % 512 {
	case 0:
		return size, nil
	case sha256.Size:
	default:
		return 0, fmt.Errorf("%d bytes are not whole pages with an optional checksum", size)
	}
	size -= sha256.Size
	expected := make([]byte, sha256.Size)
	if _, err := file.ReadAt(expected, size); err != nil {
		return 0, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, size)); err != nil {
		return 0, err
	}
	if !bytes.Equal(sum.Sum(nil), expected) {
		return 0, errors.New("the checksum at its end does not match")
	}
	return size, nil
}

// detach removes the database from its cluster: no members, no applied entries. etcd then creates
// a new cluster with it, as with an empty database. It syncs the file, except in a temporary
// directory.
func (d *dataDir) detach(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType, NoSync: d.temporary,
	})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, bucket := range [][]byte{schema.Members.Name(), schema.MembersRemoved.Name(), schema.Cluster.Name(), schema.Alarm.Name()} {
			if err := tx.DeleteBucket(bucket); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
				return err
			}
		}
		meta, err := tx.CreateBucketIfNotExists(schema.Meta.Name())
		if err != nil {
			return err
		}
		for _, key := range [][]byte{schema.MetaConsistentIndexKeyName, schema.MetaTermKeyName, schema.MetaConfStateName} {
			if err := meta.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// syncDir makes a rename in a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
