package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.etcd.io/etcd/server/v3/storage/datadir"
)

// check rejects data on which etcd would hang, panic or silently lose writes. It reads about as
// much as etcd itself reads at its start. It returns the number of entries of the log that etcd
// replays.
func (d *dataDir) check(ctx context.Context) (replayed uint64, err error) {
	if d.temporary {
		return 0, nil
	}
	paths, err := logFiles(datadir.ToWALDir(d.path))
	if err != nil {
		return 0, err
	}
	db, err := checkDatabase(ctx, datadir.ToBackendFileName(d.path))
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, checkFresh(db)
	}
	if missing {
		return 0, fmt.Errorf("%w: there is a log, but no database: %w", ErrCorrupt, err)
	}
	log, err := checkLog(ctx, paths)
	if err != nil {
		return 0, err
	}
	return log.end() - log.start(), errors.Join(checkConsistent(log, db), checkMember(log, db))
}

// checkFresh checks a database without a log. It is valid if it is empty, was left by an
// unfinished first start, or was restored from a snapshot.
func checkFresh(db database) error {
	if db.applied > 0 {
		return fmt.Errorf("%w: there is a database, but its log is missing", ErrCorrupt)
	}
	return nil
}

// checkConsistent compares the log with the database. etcd treats each entry up to the index of
// the database as applied: if the log ends before that index, etcd would acknowledge writes and
// drop them.
func checkConsistent(log *walLog, db database) error {
	if log.end() < db.applied {
		return fmt.Errorf("%w: the log is truncated: it ends with entry %d, but the database contains entry %d", ErrCorrupt, log.end(), db.applied)
	}
	if db.applied < log.start() {
		return fmt.Errorf("%w: the database is too old: it contains entry %d, but the log starts after %d", ErrCorrupt, db.applied, log.start())
	}
	return nil
}

// checkMember rejects the data of a member of a larger cluster: etcd would wait for the other
// members forever.
func checkMember(log *walLog, db database) error {
	member, err := log.member()
	if err != nil {
		return err
	}
	if len(db.members) > 1 {
		return fmt.Errorf("%w: it belongs to a cluster of %d members", ErrForeign, len(db.members))
	}
	if len(db.members) == 1 && !slices.Contains(db.members, member) {
		return fmt.Errorf("%w: log and database belong to different members, %s and %s", ErrCorrupt, member, db.members[0])
	}
	return nil
}

// damaged wraps err in ErrCorrupt, unless the read was cancelled or the operating system refused
// it.
func damaged(ctx context.Context, path string, err error) error {
	var operation *fs.PathError
	if ctx.Err() != nil || errors.Is(err, ErrInUse) || errors.As(err, &operation) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrCorrupt, path, err)
}
