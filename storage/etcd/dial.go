package etcd

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// writeMethods must not be sent twice.
var writeMethods = [...]string{
	"/etcdserverpb.KV/Txn",
	"/etcdserverpb.KV/Put",
	"/etcdserverpb.KV/DeleteRange",
}

// AtMostOnce returns the dial option for clients that speak gRPC: it keeps
// clientv3 from sending a write again whose outcome is not known. clientv3
// does not repeat a write when the connection breaks, but it does when the
// answer is Canceled or DeadlineExceeded while the caller's context lives, as
// it is when the other side resets the stream.
func AtMostOnce() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(atMostOnce)
}

// atMostOnce runs inside of clientv3's own interceptor. It gives such an answer
// a code that clientv3 does not repeat.
func atMostOnce(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	code := status.Code(err)
	if ctx.Err() != nil || (code != codes.Canceled && code != codes.DeadlineExceeded) || !slices.Contains(writeMethods[:], method) {
		return err
	}
	return status.Errorf(codes.Unknown, "no answer to a write: %v", status.Convert(err).Message())
}
