package etcd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/miniapi/miniapi/storage"
)

// translations maps errors of etcd to errors of package storage, for reads and writes. A write
// with one of these errors has written nothing. ErrNoSpace is not included, because etcd also
// returns it for writes that it has applied (space.go).
var translations = [...]struct{ etcd, storage error }{
	{rpctypes.ErrCompacted, storage.ErrCompacted},
	{rpctypes.ErrFutureRev, storage.ErrFutureRevision},
	{rpctypes.ErrRequestTooLarge, storage.ErrTooLarge},
	{rpctypes.ErrNoLeader, storage.ErrUnavailable},
	{rpctypes.ErrTooManyRequests, storage.ErrUnavailable},
}

// rejections are the gRPC codes with which etcd rejects a request before it has any effect.
var rejections = [...]codes.Code{
	codes.InvalidArgument, codes.FailedPrecondition, codes.OutOfRange, codes.NotFound,
	codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented,
}

// tooLargeToSend is the error text of a client for a request above its own limit.
const tooLargeToSend = "trying to send message larger than max"

// readError translates the error of a read.
func readError(op, key string, err error) error {
	return failed(op, key, 0, meaningOfRead(err), err)
}

// writeError translates the error of a write that was passed to the client. Unless the error proves
// that nothing was written, the outcome is unknown.
func writeError(op, key string, err error) error {
	return failed(op, key, 0, meaningOfWrite(err), err)
}

func meaningOfRead(err error) error {
	if known := translate(err); known != nil {
		return known
	}
	return storage.ErrUnavailable
}

func meaningOfWrite(err error) error {
	if known := translate(err); known != nil {
		return known
	}
	code := codeOf(err)
	if slices.Contains(rejections[:], code) {
		return storage.ErrUnavailable
	}
	if code == codes.Unavailable && strings.HasPrefix(rpctypes.ErrorDesc(err), unsent) {
		return storage.ErrUnavailable
	}
	return storage.ErrUnknownOutcome
}

func translate(err error) error {
	err = rpctypes.Error(err)
	for _, t := range translations {
		if errors.Is(err, t.etcd) {
			return t.storage
		}
	}
	if codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), tooLargeToSend) {
		return storage.ErrTooLarge
	}
	return nil
}

func codeOf(err error) codes.Code {
	var fromServer rpctypes.EtcdError
	if errors.As(err, &fromServer) {
		return fromServer.Code()
	}
	return status.Code(err)
}

// failed returns the error of an operation. It wraps a sentinel of package storage and the cause,
// which may be nil.
func failed(op, key string, revision int64, sentinel, cause error) error {
	if cause == nil {
		return &storage.KeyError{Op: op, Key: key, Revision: revision, Err: sentinel}
	}
	return &storage.KeyError{Op: op, Key: key, Revision: revision, Err: fmt.Errorf("%w: %w", sentinel, cause)}
}

// rejected returns the error of an operation that the store rejects itself.
func rejected(op, key string, revision int64, err error) error {
	return &storage.KeyError{Op: op, Key: key, Revision: revision, Err: err}
}
