package storage

import "context"

// UnknownOutcomeError is an ErrUnknownOutcome whose write can be resolved later. Its text is the
// text of the cause.
type UnknownOutcomeError struct {
	Cause error
	// Resolve returns the revision at which the write happened, or 0 if it has not happened and
	// never will. Unless the write leaves a receipt or creates an object with a UID, the revision
	// may be the one of an equal write of another client. ErrCompacted means that the history was
	// compacted, so the write cannot be resolved any more. After any other error the caller may
	// call Resolve again. It is safe for concurrent use.
	Resolve func(ctx context.Context) (revision int64, err error)
}

func (e *UnknownOutcomeError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Cause }

// Is makes errors.Is(err, ErrUnknownOutcome) true.
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrUnknownOutcome }
