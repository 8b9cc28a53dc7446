package embedded

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/coreos/go-semver/semver"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/miniapi/miniapi/internal/filelock"
	"github.com/miniapi/miniapi/storage/embedded/internal/boltcheck"
)

// database holds the values that the check of the database reads.
type database struct {
	// applied is the index of the last log entry that the database contains.
	applied uint64
	members []types.ID
}

// checkDatabase reads the whole database file. It rejects content that would make etcd panic
// later, possibly on a goroutine that no caller can recover. For a missing or empty file the error
// is fs.ErrNotExist.
func checkDatabase(ctx context.Context, path string) (database, error) {
	file, err := os.Open(path)
	if err != nil {
		return database{}, err
	}
	defer file.Close() // opened for reading
	info, err := file.Stat()
	if err != nil {
		return database{}, err
	}
	if info.Size() == 0 {
		return database{}, fmt.Errorf("%s is empty: %w", path, fs.ErrNotExist)
	}
	if err := filelock.TryLockDatabase(file); errors.Is(err, filelock.ErrLocked) {
		return database{}, ErrInUse
	} else if err != nil {
		return database{}, err
	}
	var db database
	if err := boltcheck.Walk(ctx, file, info.Size(), db.visit); err != nil {
		return database{}, damaged(ctx, path, err)
	}
	return db, nil
}

// visit checks one key. It accepts content that etcd does not read or only logs.
func (d *database) visit(bucket string, key, value []byte) error {
	switch bucket {
	case string(schema.Key.Name()):
		return d.visitRevision(key, value)
	case string(schema.Meta.Name()):
		return d.visitMeta(string(key), value)
	case string(schema.Lease.Name()):
		if len(key) != 8 || !isMessage(value) {
			return fmt.Errorf("lease %x is unreadable", key)
		}
	case string(schema.Cluster.Name()):
		return d.visitCluster(string(key), value)
	case string(schema.Members.Name()):
		return d.visitMember(string(key), value)
	case string(schema.MembersRemoved.Name()):
		if _, err := types.IDFromString(string(key)); err != nil {
			return fmt.Errorf("removed member %q: %w", key, err)
		}
	}
	return nil
}

// revisionSize is the size of a key in the bucket of revisions: two numbers with an underscore
// between them.
const revisionSize = 8 + 1 + 8

func (d *database) visitRevision(key, value []byte) error {
	if len(key) == revisionSize+1 && key[revisionSize] == 't' { // a deletion
		key = key[:revisionSize]
	}
	if !isRevision(key) {
		return fmt.Errorf("revision %x is malformed", key)
	}
	if !isMessage(value) {
		return fmt.Errorf("the value of revision %d is unreadable", binary.BigEndian.Uint64(key))
	}
	return nil
}

func (d *database) visitMeta(key string, value []byte) error {
	ok := true
	switch key {
	case string(schema.MetaConsistentIndexKeyName):
		if ok = len(value) == 8; ok {
			d.applied = binary.BigEndian.Uint64(value)
		}
	case string(schema.MetaTermKeyName):
		ok = len(value) == 8
	case string(schema.ScheduledCompactKeyName), string(schema.FinishedCompactKeyName):
		ok = isRevision(value)
	case string(schema.MetaConfStateName):
		ok = json.Valid(value)
	}
	if !ok {
		return fmt.Errorf("%s is malformed", key)
	}
	return nil
}

func (d *database) visitCluster(key string, value []byte) error {
	switch key {
	case string(schema.ClusterClusterVersionKeyName):
		if _, err := semver.NewVersion(string(value)); err != nil {
			return fmt.Errorf("cluster version: %w", err)
		}
	case string(schema.ClusterDowngradeKeyName):
		if !json.Valid(value) {
			return fmt.Errorf("%s is malformed", key)
		}
	}
	return nil
}

func (d *database) visitMember(key string, value []byte) error {
	id, err := types.IDFromString(key)
	if err == nil && !json.Valid(value) {
		err = errors.New("unreadable")
	}
	if err != nil {
		return fmt.Errorf("member %q: %w", key, err)
	}
	d.members = append(d.members, id)
	return nil
}

func isRevision(b []byte) bool {
	return len(b) == revisionSize && b[8] == '_' && b[0] < 0x80 && b[9] < 0x80
}

// isMessage reports whether b can be decoded as a protobuf message. All fields of etcd's messages
// are numbers and bytes, so decoding can only fail at the framing.
func isMessage(b []byte) bool {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}
