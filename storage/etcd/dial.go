package etcd

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// writeMethods are the methods that must not be sent twice.
var writeMethods = [...]string{
	"/etcdserverpb.KV/Txn",
	"/etcdserverpb.KV/Put",
	"/etcdserverpb.KV/DeleteRange",
}

// unsent begins the text of an error of a request that was not sent.
const unsent = "not sent: "

// AtMostOnce returns a dial option for gRPC clients. With it, the error of a failed write says
// whether the write was sent, without which the outcome is unknown, and clientv3 does not send the
// write again. clientv3 does not repeat a write when the connection breaks. It does repeat one
// when the answer is Canceled or DeadlineExceeded before the caller's context has ended, for
// example when the other side resets the stream.
func AtMostOnce() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(atMostOnce)
}

// atMostOnce runs inside the interceptor of clientv3.
func atMostOnce(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if !slices.Contains(writeMethods[:], method) {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	var to peer.Peer
	err := invoke(ctx, method, req, reply, cc, append(slices.Clip(opts), grpc.Peer(&to))...)
	if err == nil || !maybeUnanswered(err) {
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

// maybeUnanswered reports whether an error may come from another source than etcd.
func maybeUnanswered(err error) bool {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable:
		return true
	default:
		return false
	}
}
