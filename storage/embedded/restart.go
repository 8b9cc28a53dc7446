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
	// probeBytes must be free on the disk before etcd is restarted, for segments of its log and
	// pages of the database.
	probeBytes = 16 << 20
	// probeInterval is the interval between two checks of the disk.
	probeInterval = 500 * time.Millisecond
)

// isDiskFull reports whether etcd has given up for lack of disk space, which is temporary. The log
// then contains all acknowledged writes.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// restart replaces an instance that has run out of disk space once the disk has space. An error is
// the reason why there is no new instance; it is nil if the server is stopped meanwhile.
func (s *Server) restart(failed *instance) (*instance, error) {
	s.cfg.Logger.Error("the disk is full: writes are rejected until there is space", "error", failed.failure())
	for {
		if err := s.abandon(failed); err != nil {
			return nil, errors.Join(failed.failure(), err)
		}
		if !s.awaitDisk() {
			return nil, nil
		}
		next := newInstance()
		err := s.startReplacement(next)
		if err == nil {
			s.cfg.Logger.Warn("the disk has space: etcd was restarted")
			return next, nil
		}
		if s.stopping.Err() != nil {
			return nil, next.stop()
		}
		if !isDiskFull(err) {
			return nil, errors.Join(fmt.Errorf("restart etcd: %w", err), next.stop())
		}
		failed = next
	}
}

func (s *Server) startReplacement(next *instance) (err error) {
	if next.clientServer, err = listen(s.urls); err != nil {
		return err
	}
	if err := next.start(s.stopping, s.cfg, s.dir); err != nil {
		return err
	}
	s.replace(next)
	return nil
}

// abandon ends the parts of a failed instance that can be ended, and detaches the others from the
// data directory. Deadlocked goroutines stay, with their memory.
func (s *Server) abandon(failed *instance) error {
	_ = failed.stop() // parts that do not stop are detached next
	return detachOpenFiles(s.dir.path)
}

// awaitDisk returns true once the disk has space, or false when the server is stopped.
func (s *Server) awaitDisk() bool {
	ticks := time.NewTicker(probeInterval)
	defer ticks.Stop()
	for !hasDiskSpace(s.dir.path) {
		select {
		case <-s.stopping.Done():
			return false
		case <-ticks.C:
		}
	}
	return s.stopping.Err() == nil
}

// hasDiskSpace reports whether a file of probeBytes can be allocated in dir.
func hasDiskSpace(dir string) bool {
	file, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return false
	}
	err = fileutil.Preallocate(file, probeBytes, true)
	return errors.Join(err, file.Close(), os.Remove(file.Name())) == nil
}
