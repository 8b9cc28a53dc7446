package etcd

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// writeMethods must not be sent twice.
var writeMethods = [...]string{
	"/etcdserverpb.KV/Txn",
	"/etcdserverpb.KV/Put",
	"/etcdserverpb.KV/DeleteRange",
}

// unsent begins the text of a request that never left this process.
const unsent = "not sent: "

// AtMostOnce returns the dial option for clients that speak gRPC. It lets the
// store know of a failed write whether it was sent, without which it has to
// call the outcome unknown, and it keeps clientv3 from sending such a write
// again. clientv3 does not repeat a write when the connection breaks, but it
// does when the answer is Canceled or DeadlineExceeded while the caller's
// context lives, as it is when the other side resets the stream.
func AtMostOnce() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(atMostOnce)
}

// atMostOnce runs inside of clientv3's own interceptor.
func atMostOnce(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if !slices.Contains(writeMethods[:], method) {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	var to peer.Peer
	err := invoke(ctx, method, req, reply, cc, append(slices.Clip(opts), grpc.Peer(&to))...)
	if err == nil || !unanswered(err) {
		return err
	}
	if to.Addr == nil { // gRPC found no connection to send it on
		return status.Errorf(codes.Unavailable, "%s%s", unsent, status.Convert(err).Message())
	}
	if ctx.Err() != nil {
		return err
	}
	// A code that clientv3 does not repeat.
	return status.Errorf(codes.Unknown, "no answer to a write: %s", status.Convert(err).Message())
}

// unanswered tells whether an error need not come from etcd.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable:
		return true
	default:
		return false
	}
}
