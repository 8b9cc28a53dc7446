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

	"github.com/miniapi/miniapi/internal/filelock"
)

// walLog holds the values that the check of the write-ahead log reads.
type walLog struct {
	metadata    []byte // the same in all files
	first, last uint64 // indexes of its entries; 0: no entries
	committed   uint64
	snapshots   []uint64 // indexes of its snapshots
	torn        bool     // the last record is incomplete
	checksum    uint32   // of all records up to now, continued from file to file
}

// logFiles returns the files of the write-ahead log in order. Without a log there are none.
func logFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	slices.Sort(paths)
	return paths, err
}

// checkLog reads the whole write-ahead log. An incomplete record at its end is the trace of a
// crash, not damage: etcd truncates it.
func checkLog(ctx context.Context, paths []string) (*walLog, error) {
	if err := checkSequence(paths); err != nil {
		return nil, err
	}
	log := &walLog{}
	for _, path := range paths {
		if log.torn {
			return nil, fmt.Errorf("%w: %s follows an incomplete record", ErrCorrupt, path)
		}
		if err := log.readFile(ctx, path); err != nil {
			return nil, damaged(ctx, path, err)
		}
	}
	return log, log.check()
}

// checkSequence returns an error if a file of the sequence is missing.
func checkSequence(paths []string) error {
	var expected uint64
	for i, path := range paths {
		var sequence, index uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "%016x-%016x.wal", &sequence, &index); err != nil {
			return fmt.Errorf("%w: %s is not the name of a log file", ErrCorrupt, path)
		}
		if i > 0 && sequence != expected {
			return fmt.Errorf("%w: the log file before %s is missing", ErrCorrupt, path)
		}
		expected = sequence + 1
	}
	return nil
}

func (l *walLog) readFile(ctx context.Context, path string) error {
	// etcd holds this lock on each file that it uses.
	file, err := filelock.TryLockFile(path, os.O_RDWR)
	if errors.Is(err, filelock.ErrLocked) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	defer file.Close() // opened for reading
	decoder := wal.NewDecoder(fileutil.NewFileReader(file))
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
			return errors.Join(errors.New("does not continue the previous file"), err)
		}
		if err != nil {
			return err
		}
		if err := l.add(decoder, &record); err != nil {
			return err
		}
	}
}

// broken reports whether the first record of a file does not continue the checksum.
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

// addEntry checks the sequence of the entries. Indexes may go back: a new leader replaces entries
// that were not committed.
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

// start returns the index of the snapshot that etcd starts from.
func (l *walLog) start() uint64 {
	var start uint64
	for _, index := range l.snapshots {
		if index <= l.committed {
			start = index
		}
	}
	return start
}

// end returns the index up to which the log is complete.
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

// member returns the ID of the member that wrote the log.
func (l *walLog) member() (types.ID, error) {
	var metadata etcdserverpb.Metadata
	if err := proto.Unmarshal(l.metadata, &metadata); err != nil || l.metadata == nil {
		return 0, fmt.Errorf("%w: the log does not contain its member ID", ErrCorrupt)
	}
	return types.ID(metadata.GetNodeID()), nil
}
