package embedded

import (
	"errors"
	"fmt"
	"time"
)

// errStopped is the reason when etcd stops without being told to.
var errStopped = errors.New("embedded etcd stopped by itself")

// shutdown ends everything in the reverse order of its start.
func (s *Server) shutdown() {
	s.closeErr = s.abort()
	close(s.closed)
}

// abort stops what has been started so far.
func (s *Server) abort() error {
	s.front.close()
	if s.client != nil {
		// Its error is that its own context has just been ended.
		_ = s.client.Close()
	}
	return errors.Join(s.stopEtcd(), s.dir.close())
}

// stopEtcd waits for etcd's end. What does not end in time is left behind.
func (s *Server) stopEtcd() error {
	if s.etcd == nil {
		return nil
	}
	timeout := stopTimeout
	select {
	case <-s.guard.failed:
		timeout = giveUpTimeout
	default:
	}
	s.stopping.Store(true)
	s.cancel()
	stopped := make(chan struct{})
	go func() { // ends with etcd
		defer close(stopped)
		s.upkeep.Wait()
		s.etcd.Stop()
	}()
	select {
	case <-stopped:
		<-s.done
		return nil
	case <-time.After(timeout):
		return fmt.Errorf("embedded etcd has not stopped within %v", timeout)
	}
}
