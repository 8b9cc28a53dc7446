package datastore

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// lossTimeout is how long no member of a cluster can be reached before the cluster counts as lost.
// A restart of a member takes less.
const lossTimeout = time.Second

// AwaitLoss blocks until the cluster is lost, and returns true, or until ctx ends. An embedded etcd
// is never lost.
func (d *Datastore) AwaitLoss(ctx context.Context) bool {
	if d.embedded != nil {
		<-ctx.Done()
		return false
	}
	conn := d.etcd.ActiveConnection()
	for awaitConnection(ctx, conn, false) {
		reconnecting, cancel := context.WithTimeout(ctx, lossTimeout)
		connected := awaitConnection(reconnecting, conn, true)
		cancel()
		if !connected {
			return ctx.Err() == nil
		}
	}
	return false
}

// awaitConnection blocks until conn is connected or not, as requested, and returns true, or until
// ctx ends.
func awaitConnection(ctx context.Context, conn *grpc.ClientConn, connected bool) bool {
	for {
		state := conn.GetState()
		if (state == connectivity.Ready) == connected {
			return true
		}
		conn.Connect() // if it is idle
		if !conn.WaitForStateChange(ctx, state) {
			return false
		}
	}
}

// Disconnect closes the connection to a cluster, so that all requests to it fail at once. The
// caller must call Close too.
func (d *Datastore) Disconnect() {
	if d.embedded == nil {
		_ = d.closeClient() // Close returns the error
	}
}

// failWhenClosed is an interceptor that fails the requests of a closed client. clientv3 repeats
// them for 2.5 seconds, because their error has the code Canceled, while their context has not
// ended.
func failWhenClosed(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	if status.Code(err) == codes.Canceled && cc.GetState() == connectivity.Shutdown {
		return status.Error(codes.Aborted, "the connection to etcd is closed")
	}
	return err
}
