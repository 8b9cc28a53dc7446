package etcd

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/miniapi/miniapi/storage"
)

func TestErrorsOfEtcd(t *testing.T) {
	unavailable := func(text string) error { return status.Error(codes.Unavailable, text) }
	cases := []struct {
		name        string
		err         error
		read, write error
	}{
		{"compacted", rpctypes.ErrCompacted, storage.ErrCompacted, storage.ErrCompacted},
		{"compacted, as a gRPC error", rpctypes.ErrGRPCCompacted, storage.ErrCompacted, storage.ErrCompacted},
		{"revision ahead", rpctypes.ErrFutureRev, storage.ErrFutureRevision, storage.ErrFutureRevision},
		{"too large for the server", rpctypes.ErrRequestTooLarge, storage.ErrTooLarge, storage.ErrTooLarge},
		{"too large for the client", status.Error(codes.ResourceExhausted, "trying to send message larger than max (3 vs. 2)"), storage.ErrTooLarge, storage.ErrTooLarge},
		{"answer too large to receive", status.Error(codes.ResourceExhausted, "grpc: received message larger than max (3 vs. 2)"), storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"no leader, before the proposal", rpctypes.ErrNoLeader, storage.ErrUnavailable, storage.ErrUnavailable},
		{"no space, which may be an answer to an applied write", rpctypes.ErrNoSpace, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"too many requests", rpctypes.ErrTooManyRequests, storage.ErrUnavailable, storage.ErrUnavailable},
		{"permission denied", rpctypes.ErrPermissionDenied, storage.ErrUnavailable, storage.ErrUnavailable},
		{"timed out after the proposal", rpctypes.ErrTimeout, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"leader lost after the proposal", rpctypes.ErrTimeoutDueToLeaderFail, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"leader changed", rpctypes.ErrLeaderChanged, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"server stopped", rpctypes.ErrStopped, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"connection broke", unavailable(`connection error: desc = "error reading from server: EOF"`), storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"never sent", unavailable(unsent + "connection refused"), storage.ErrUnavailable, storage.ErrUnavailable},
		{"deadline", context.DeadlineExceeded, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"cancelled", context.Canceled, storage.ErrUnavailable, storage.ErrUnknownOutcome},
		{"another error", errors.New("boom"), storage.ErrUnavailable, storage.ErrUnknownOutcome},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check := func(verb string, err, want error) {
				var keyError *storage.KeyError
				if !errors.As(err, &keyError) || keyError.Key != "/pods/a" {
					t.Errorf("%s: %v is not a KeyError of the key", verb, err)
				}
				if !errors.Is(err, want) || !errors.Is(err, c.err) {
					t.Errorf("%s: got %v, want %v wrapping the cause", verb, err, want)
				}
			}
			check("read", readError("get", "/pods/a", c.err), c.read)
			check("write", writeError("create", "/pods/a", c.err), c.write)
		})
	}
}
