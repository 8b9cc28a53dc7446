package etcd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

const (
	// finishTimeout is the time limit of a transaction after its caller has cancelled.
	finishTimeout = 2 * time.Second
	// resolveTimeout is the time limit for resolving the outcome of a write before the write
	// returns ErrUnknownOutcome.
	resolveTimeout = 2 * time.Second
	// resolveProgress is the interval at which a watch that resolves an outcome requests the
	// progress of etcd.
	resolveProgress = 10 * time.Millisecond
)

// detached is the context of a transaction. It does not end with the caller's context, because a
// transaction that is cancelled may still happen, while one that is not is answered within
// milliseconds. It ends at the caller's deadline, and finishTimeout after the caller has cancelled.
type detached struct {
	ctx    context.Context
	cancel context.CancelFunc
	unhook func() bool // from the caller's context
}

// detach returns the context of a transaction that is sent now. The caller must call end.
func detach(ctx context.Context) detached {
	if ctx.Done() == nil {
		return detached{ctx: ctx}
	}
	d := detached{}
	d.ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	cancel := d.cancel
	d.unhook = context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
			return
		}
		time.AfterFunc(finishTimeout, cancel)
	})
	return d
}

// end releases the context.
func (d detached) end() {
	if d.cancel != nil {
		d.unhook()
		d.cancel()
	}
}

// sentWrite is a transaction that was sent to etcd.
type sentWrite struct {
	guardedWrite
	value   []byte // stored bytes, nil in a deletion
	deletes bool
	fence   int64 // compared value of the fence
	since   int64 // a revision of the store before the write was sent
	// answered is set if etcd has rejected or applied the write without saying which. The write
	// cannot happen later.
	answered bool
}

// unanswered returns the outcome of a write that has failed with an error. If it cannot resolve the
// outcome now, it returns an UnknownOutcomeError.
func (s *resourceStore) unanswered(ctx context.Context, w sentWrite, cause error) (txnResult, error) {
	if isUnsent(cause) || isNoSpace(cause) && s.unchanged(ctx, w.guardedWrite) {
		return txnResult{}, noSpaceError(w.op, w.key, cause)
	}
	w.answered = isNoSpace(cause)
	failure := writeError(w.op, w.key, cause)
	if !errors.Is(failure, storage.ErrUnknownOutcome) {
		return txnResult{}, failure
	}
	if ctx.Err() == nil {
		resolving, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		revision, err := s.resolve(resolving, w)
		switch {
		case err == nil && revision > 0 && w.isIdentified():
			return txnResult{succeeded: true, revision: revision}, nil
		case err == nil && revision == 0 && w.answered:
			return txnResult{}, noSpaceError(w.op, w.key, cause)
		case err == nil && revision == 0:
			return txnResult{}, failed(w.op, w.key, w.revision, storage.ErrUnavailable, cause)
		}
	}
	return txnResult{}, failed(w.op, w.key, 0, storage.ErrUnknownOutcome, &storage.UnknownOutcomeError{
		Cause:   cause,
		Resolve: func(ctx context.Context) (int64, error) { return s.resolve(ctx, w) },
	})
}

// resolve returns the revision at which a write happened, or 0 if it never happens.
//
// At most one transaction changes a key from one revision to the next. So either the first change
// of the key after the revision that guards the write is the write, or the write has not happened.
// A creation is searched among the changes since it was sent. The receipt, or the UID of a new
// object, distinguishes the write from an equal write of another client, for example one that
// increments the same counter.
func (s *resourceStore) resolve(ctx context.Context, w sentWrite) (int64, error) {
	var until int64
	if !w.answered {
		var err error
		if until, err = s.fence.raise(ctx, s.kv, w.fence); err != nil {
			return 0, readError(w.op, w.key, err)
		}
	}
	resp, err := s.kv.Get(ctx, w.path, s.consistent()...)
	if err != nil {
		return 0, readError(w.op, w.key, err)
	}
	until = max(until, resp.Header.Revision)
	if len(resp.Kvs) > 0 {
		switch kv := resp.Kvs[0]; {
		case kv.ModRevision == w.revision:
			return 0, nil // unchanged
		case w.creates() && w.receipt == "" && kv.Version == 1 && bytes.Equal(kv.Value, w.value):
			return kv.ModRevision, nil
		}
	}
	revision, err := s.find(ctx, w, until)
	if err != nil || revision == 0 || w.receipt == "" {
		return revision, err
	}
	return s.checkReceipt(ctx, w, revision)
}

// checkReceipt returns the revision if the receipt of the write was written at that revision, and
// otherwise 0.
func (s *resourceStore) checkReceipt(ctx context.Context, w sentWrite, revision int64) (int64, error) {
	resp, err := s.kv.Get(ctx, s.cfg.Prefix+receiptKey, s.consistent(clientv3.WithRev(revision))...)
	if err != nil {
		return 0, readError(w.op, w.key, err)
	}
	if len(resp.Kvs) == 0 || string(resp.Kvs[0].Value) != w.receipt {
		return 0, nil
	}
	return revision, nil
}

// newReceipt returns a unique value if a write leaves a receipt, and otherwise "".
func newReceipt(leaves bool) string {
	if !leaves {
		return ""
	}
	return rand.Text()
}

func hasUID(obj runtime.Object) bool {
	accessor, err := meta.Accessor(obj)
	return err == nil && accessor.GetUID() != ""
}

// find returns the revision of a write from the changes of its key up to a revision, 0 if it is not
// among them.
func (s *resourceStore) find(ctx context.Context, w sentWrite, until int64) (int64, error) {
	after := w.revision
	if w.creates() {
		after = w.since
	}
	stream := s.openStream(ctx, watchKey(w.path, after+1))
	defer stream.close()
	ticks := time.NewTicker(resolveProgress)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, readError(w.op, w.key, ctx.Err())
		case <-ticks.C:
			stream.requestProgress()
		case resp, open := <-stream.incoming:
			if !open {
				return 0, failed(w.op, w.key, after, storage.ErrUnavailable, cmp.Or(stream.err, errStreamEnded))
			}
			if err := resp.Err(); err != nil {
				return 0, readError(w.op, w.key, err)
			}
			for _, e := range resp.Events {
				if revision, decided := w.decide(e); decided {
					return revision, nil
				}
			}
			if resp.IsProgressNotify() && resp.Header.Revision >= until {
				return 0, nil
			}
		}
	}
}

func (w sentWrite) creates() bool { return w.revision == 0 }

// isIdentified reports whether the write can be distinguished from an equal one.
func (w sentWrite) isIdentified() bool { return w.unique || w.receipt != "" }

// decide reports whether a change of the key decides the outcome of the write, and returns the
// revision of the write, 0 if it has not happened.
func (w sentWrite) decide(e *clientv3.Event) (revision int64, decided bool) {
	same := w.deletes == (e.Type == clientv3.EventTypeDelete) && (w.deletes || bytes.Equal(e.Kv.Value, w.value))
	switch {
	case w.creates() && !(same && e.IsCreate()):
		return 0, false // a change of another object
	case same:
		return e.Kv.ModRevision, true
	default:
		return 0, true
	}
}
