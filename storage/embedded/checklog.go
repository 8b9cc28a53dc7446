package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// walLog is what the check of etcd's write-ahead log learns.
type walLog struct {
	metadata    []byte // the same in all files
	first, last uint64 // indexes of its entries; 0: none
	committed   uint64
	snapshots   []uint64 // indexes that it has snapshots of
	torn        bool     // the last record was not written to its end
	checksum    uint32   // of all so far, carried from file to file
}

// logFiles returns the files of the write-ahead log in their order, none if
// there is no log.
func logFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	slices.Sort(paths)
	return paths, err
}

// checkLog reads the whole write-ahead log. A torn record at its very end is
// what a crash leaves behind and no fault in itself: etcd cuts it off.
func checkLog(ctx context.Context, paths []string) (*walLog, error) {
	if err := checkSequence(paths); err != nil {
		return nil, err
	}
	log := &walLog{}
	for _, path := range paths {
		if log.torn {
			return nil, fmt.Errorf("%w: %s goes on after a record that is cut off", ErrCorrupt, path)
		}
		if err := log.readFile(ctx, path); err != nil {
			return nil, damaged(ctx, path, err)
		}
	}
	return log, log.check()
}

// checkSequence finds files that are missing in between.
func checkSequence(paths []string) error {
	var expected uint64
	for i, path := range paths {
		var sequence, index uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "%016x-%016x.wal", &sequence, &index); err != nil {
			return fmt.Errorf("%w: %s is not named like a file of the log", ErrCorrupt, path)
		}
		if i > 0 && sequence != expected {
			return fmt.Errorf("%w: a file of the log is missing before %s", ErrCorrupt, path)
		}
		expected = sequence + 1
	}
	return nil
}

func (l *walLog) readFile(ctx context.Context, path string) error {
	// etcd holds such a lock on the files it works on.
	file, err := fileutil.TryLockFile(path, os.O_RDWR, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	decoder := wal.NewDecoder(fileutil.NewFileReader(file.File))
	var record walpb.Record
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := decoder.Decode(&record)
		if errors.Is(err, io.EOF) && !first {
			l.checksum = decoder.LastCRC()
			return nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && !first {
			l.torn = true
			return nil
		}
		if first && (err != nil || record.GetType() != wal.CrcType || l.broken(&record)) {
			return errors.Join(errors.New("does not begin where the file before ends"), err)
		}
		if err != nil {
			return err
		}
		if err := l.add(decoder, &record); err != nil {
			return err
		}
	}
}

// broken tells whether a file's first record does not continue the checksum.
func (l *walLog) broken(first *walpb.Record) bool {
	return l.checksum != 0 && first.Validate(l.checksum) != nil
}

func (l *walLog) add(decoder wal.Decoder, record *walpb.Record) error {
	switch record.GetType() {
	case wal.MetadataType:
		if l.metadata != nil && !bytes.Equal(l.metadata, record.Data) {
			return wal.ErrMetadataConflict
		}
		l.metadata = bytes.Clone(record.Data)
	case wal.EntryType:
		return l.addEntry(record.Data)
	case wal.StateType:
		var state raftpb.HardState
		if err := proto.Unmarshal(record.Data, &state); err != nil {
			return err
		}
		l.committed = state.GetCommit()
	case wal.CrcType:
		if crc := decoder.LastCRC(); crc != 0 && record.Validate(crc) != nil {
			return wal.ErrCRCMismatch
		}
		decoder.UpdateCRC(record.GetCrc())
	case wal.SnapshotType:
		var snapshot walpb.Snapshot
		if err := proto.Unmarshal(record.Data, &snapshot); err != nil {
			return err
		}
		l.snapshots = append(l.snapshots, snapshot.GetIndex())
	default:
		return fmt.Errorf("a record of unknown type %d", record.GetType())
	}
	return nil
}

// addEntry follows the indexes of the entries. They may go back, where a new
// leader has replaced what was not committed.
func (l *walLog) addEntry(data []byte) error {
	var entry raftpb.Entry
	if err := proto.Unmarshal(data, &entry); err != nil {
		return err
	}
	index := entry.GetIndex()
	if l.first == 0 {
		l.first = index
	} else if index > l.last+1 {
		return fmt.Errorf("entries %d to %d are missing", l.last+1, index-1)
	}
	l.last = index
	return nil
}

// start is the index of the snapshot that etcd will start from.
func (l *walLog) start() uint64 {
	var start uint64
	for _, index := range l.snapshots {
		if index <= l.committed {
			start = index
		}
	}
	return start
}

// end is the index up to which the log tells everything.
func (l *walLog) end() uint64 { return max(l.last, l.start()) }

func (l *walLog) check() error {
	if l.first > l.start()+1 {
		return fmt.Errorf("%w: entries %d to %d of the log are missing", ErrCorrupt, l.start()+1, l.first-1)
	}
	if l.committed > l.end() {
		return fmt.Errorf("%w: entries %d to %d of the log are missing", ErrCorrupt, l.end()+1, l.committed)
	}
	return nil
}

// member returns whose log this is.
func (l *walLog) member() (types.ID, error) {
	var metadata etcdserverpb.Metadata
	if err := proto.Unmarshal(l.metadata, &metadata); err != nil || l.metadata == nil {
		return 0, fmt.Errorf("%w: the log does not say whose it is", ErrCorrupt)
	}
	return types.ID(metadata.GetNodeID()), nil
}
