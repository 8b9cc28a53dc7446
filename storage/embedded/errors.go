package embedded

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	// errStopped is the error of an etcd that stopped without a request.
	errStopped  = errors.New("embedded etcd stopped by itself")
	errStopping = errors.New("the server is stopping")
	// errRestarting is the error of a read while no instance runs.
	errRestarting error = &notSentError{errors.New("etcd is restarted when its disk has room")}
	// errDiskFull is the error of a write while no instance runs.
	errDiskFull error = noSpaceError("the disk of the server is full: free some space on it; writes then succeed without a restart")
)

// notSentError is the error of a request that was not sent to etcd. Package etcd handles it like a
// connection error.
type notSentError struct{ cause error }

func (e *notSentError) Error() string { return "not sent: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *notSentError) Unwrap() error { return e.cause }

// GRPCStatus returns the status that gRPC uses for such errors.
func (e *notSentError) GRPCStatus() *status.Status { return status.New(codes.Unavailable, e.Error()) }

// noSpaceError is an ErrNoSpace of etcd with its own text.
type noSpaceError string

func (e noSpaceError) Error() string { return string(e) }

// Unwrap returns etcd's error, for errors.Is.
func (e noSpaceError) Unwrap() error { return rpctypes.ErrNoSpace }
