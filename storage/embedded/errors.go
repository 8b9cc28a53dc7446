package embedded

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	// errStopped is the reason when etcd stops without being told to.
	errStopped  = errors.New("embedded etcd stopped by itself")
	errStopping = errors.New("the server is being stopped")
	// errRestarting is the error of a read while no instance runs.
	errRestarting error = &notSentError{errors.New("etcd is restarted when its disk has room")}
	// errDiskFull is the error of a write while no instance runs.
	errDiskFull error = noSpaceError("the disk of the server is full: free some space on it, and writes go on without a restart")
)

// notSentError is the error of a request that was not sent to etcd. To package
// etcd's store it looks like one of a connection.
type notSentError struct{ cause error }

func (e *notSentError) Error() string { return "not sent: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *notSentError) Unwrap() error { return e.cause }

// GRPCStatus returns what gRPC would return.
func (e *notSentError) GRPCStatus() *status.Status { return status.New(codes.Unavailable, e.Error()) }

// noSpaceError is etcd's ErrNoSpace in words of its own.
type noSpaceError string

func (e noSpaceError) Error() string { return string(e) }

// Unwrap returns what errors.Is compares it with.
func (e noSpaceError) Unwrap() error { return rpctypes.ErrNoSpace }
