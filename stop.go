package miniapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// stopTimeout limits Stop if the caller's context has no deadline.
	stopTimeout = 10 * time.Second
	// closeTimeout is the part of the limit that is reserved for closing the datastore, so that a
	// request that does not end cannot prevent an orderly close.
	closeTimeout = 3 * time.Second
)

// Done returns a channel that is closed when the server has ended, by Stop or by a failure.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server: it ends open watches, completes writes in progress, except those that wait
// for a conversion webhook, and closes everything. It returns when that is done, at the latest when
// ctx ends. Without a deadline of ctx, the limit is ten seconds. The error is the one that ended
// the server, or names the requests that had to be cut off. Stop can be called more than once; each
// call returns the same error.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		if _, limited := ctx.Deadline(); !limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, stopTimeout)
			defer cancel()
		}
		defer close(s.done)
		s.crds.Close()
		s.listener.DisableKeepAlive()
		drainErr := s.drain(ctx)
		s.faults.RemoveAll() // they could prevent the end of a part
		closeErr := s.listener.Close()
		s.cancel()
		s.stopErr = errors.Join(s.group.Wait(), drainErr, closeErr, s.release(ctx))
	})
	<-s.done
	return s.stopErr
}

// drain completes the requests in progress and sends their responses. The requests fail if the
// etcd cluster is lost, because it may have been stopped before this server. The error names the
// requests that do not end in time.
func (s *Server) drain(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	ctx, cancel := context.WithTimeout(ctx, left-min(closeTimeout, left/2))
	var loss sync.WaitGroup
	loss.Go(func() { // ends with ctx
		if s.datastore.AwaitLoss(ctx) {
			s.cancel()
			s.datastore.Disconnect()
		}
	})
	err := s.api.Shutdown(ctx)
	if err == nil {
		err = s.listener.Drain(ctx)
	}
	cancel()
	loss.Wait()
	if err == nil {
		return nil
	}
	errs := []error{fmt.Errorf("the server stopped while requests were open: %w", err)}
	for _, open := range s.api.OpenRequests() {
		errs = append(errs, errors.New(open.String()))
	}
	return errors.Join(errs...)
}

// release closes the parts that were opened, also if the start of the server failed.
func (s *Server) release(ctx context.Context) error {
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	errs = append(errs, s.auditLog.Close(), s.traces.Close(ctx))
	if s.admission != nil {
		s.admission.Close()
	}
	if s.datastore != nil {
		errs = append(errs, s.datastore.Close(ctx))
	}
	return errors.Join(errs...)
}
