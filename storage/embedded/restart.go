package embedded

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

const (
	// probeBytes must be free on the disk before etcd is started again: segments
	// of its log, and pages of the database.
	probeBytes = 16 << 20
	// probeInterval is how often the disk is looked at.
	probeInterval = 500 * time.Millisecond
)

// isDiskFull reports that etcd has given up for lack of disk space, which is over
// some day. The log has all that was acknowledged.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// restart returns a running instance in the place of one that has run out of disk
// space, once there is some. An error is the reason for which there is none; it is
// nil if the server is stopped meanwhile.
func (s *Server) restart(failed *instance) (*instance, error) {
	s.cfg.Logger.Error("the disk is full: writes are refused until there is room", "error", failed.failure())
	for {
		if err := s.abandon(failed); err != nil {
			return nil, errors.Join(failed.failure(), err)
		}
		if !s.awaitDisk() {
			return nil, nil
		}
		next := newInstance()
		err := s.startAgain(next)
		if err == nil {
			s.cfg.Logger.Warn("the disk has room: etcd runs again")
			return next, nil
		}
		if s.stopping.Err() != nil {
			return nil, next.stop()
		}
		if !isDiskFull(err) {
			return nil, errors.Join(fmt.Errorf("start etcd again: %w", err), next.stop())
		}
		failed = next
	}
}

func (s *Server) startAgain(next *instance) (err error) {
	if next.front, err = listen(s.urls); err != nil {
		return err
	}
	if err := next.start(s.stopping, s.cfg, s.dir); err != nil {
		return err
	}
	s.replace(next)
	return nil
}

// abandon ends the parts of a failed instance that can be ended, and detaches the
// others from the data directory. Deadlocked goroutines remain, with their memory.
func (s *Server) abandon(failed *instance) error {
	_ = failed.stop() // that not everything stops is why it is fenced
	return fence(s.dir.path)
}

// awaitDisk returns true once the disk has room, or false when the server is
// stopped.
func (s *Server) awaitDisk() bool {
	ticks := time.NewTicker(probeInterval)
	defer ticks.Stop()
	for !hasDiskRoom(s.dir.path) {
		select {
		case <-s.stopping.Done():
			return false
		case <-ticks.C:
		}
	}
	return s.stopping.Err() == nil
}

// hasDiskRoom reports that a file of probeBytes can be allocated in dir.
func hasDiskRoom(dir string) bool {
	file, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return false
	}
	err = fileutil.Preallocate(file, probeBytes, true)
	return errors.Join(err, file.Close(), os.Remove(file.Name())) == nil
}
