package storage

import (
	"errors"
	"fmt"
)

// Sentinels, always inside a *KeyError; compare with errors.Is.
var (
	// ErrNotFound is returned for an absent key.
	ErrNotFound = errors.New("not found")
	// ErrExists is returned by Create for a key that exists.
	ErrExists = errors.New("already exists")
	// ErrPrecondition is returned when a precondition does not hold. Its text begins the message
	// that clients see.
	ErrPrecondition = errors.New("Precondition failed")
	// ErrInvalidContinue is returned by GetList for a malformed continue token.
	ErrInvalidContinue = errors.New("continue key is not valid")
	// ErrContinueWithVersion is returned by GetList for a continue token with a resourceVersion.
	// Its text is the message that clients see.
	ErrContinueWithVersion = errors.New("specifying resource version is not allowed when using continue")
	// ErrCompacted is returned when the requested revision was compacted.
	ErrCompacted = errors.New("the revision has been compacted")
	// ErrFutureRevision is returned when the requested revision is ahead of the store.
	// FutureRevisionError has the numbers.
	ErrFutureRevision = errors.New("the revision is ahead of the store")
	// ErrUnknownOutcome is returned when a write was sent but not answered, so it may or may not
	// have happened.
	ErrUnknownOutcome = errors.New("the outcome of the write is unknown")
	// ErrNoSpace is returned when the store has no space for a write. Nothing was written, so the
	// write can be repeated when there is space.
	ErrNoSpace = errors.New("nothing was written")
	// ErrUnavailable is returned when the store cannot be reached and nothing was written.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrTooLarge is returned when the store rejects an object because of its size.
	ErrTooLarge = errors.New("the object is too large for the store")
	// ErrCorrupt is returned when stored bytes cannot be decoded.
	ErrCorrupt = errors.New("the stored object cannot be decoded")
	// ErrNotCorrupt is returned by Delete with OnlyCorrupt for an object that can be decoded. Its
	// text ends the message that clients see.
	ErrNotCorrupt = errors.New("unsafe deletion is not allowed because the object is decodable from storage")
)

// KeyError is the error of an operation on a key.
type KeyError struct {
	Op       string // create, get, list, watch, update, delete, count; transform, decode
	Key      string
	Revision int64 // 0 if the error does not concern a revision
	Err      error // wraps one of the sentinels
}

func (e *KeyError) Error() string {
	if e.Revision != 0 {
		return fmt.Sprintf("%s %s at revision %d: %v", e.Op, e.Key, e.Revision, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// FutureRevisionError carries the numbers of an ErrFutureRevision.
type FutureRevisionError struct {
	Requested, Current int64
}

func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Current)
}

// Is makes errors.Is(err, ErrFutureRevision) true.
func (e *FutureRevisionError) Is(target error) bool { return target == ErrFutureRevision }
