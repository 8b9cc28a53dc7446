package etcd

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// reopenDelay is the delay before a stream is opened again after the connection has broken. It
// doubles with each failure up to maxReopenDelay.
const (
	reopenDelay    = time.Millisecond
	maxReopenDelay = 100 * time.Millisecond
)

// RPCWatcher is implemented by the Watcher of a client that calls an etcd in this process, which
// has no connection.
type RPCWatcher interface {
	// WatchClient returns the RPC of watches.
	WatchClient() etcdserverpb.WatchClient
}

// watchClient returns the RPC of watches of a client.
func watchClient(client *clientv3.Client) etcdserverpb.WatchClient {
	if in, ok := client.Watcher.(RPCWatcher); ok {
		return in.WatchClient()
	}
	return etcdserverpb.NewWatchClient(client.ActiveConnection())
}

// stream is a watch of etcd on a gRPC stream of its own. It does not use the Watcher of clientv3,
// which has three problems. A slow consumer accumulates events without a limit. Watches share
// streams, and etcd only notifies of progress when the slowest watch of a stream is synced. It can
// panic if a notification follows the end of a watch
// (https://github.com/etcd-io/etcd/issues/21969).
//
// A stream has two goroutines, because gRPC allows one sender and one receiver.
type stream struct {
	// incoming has the responses with events, notifications of progress, and the response with
	// which etcd ends the watch. It is closed at the end.
	incoming chan clientv3.WatchResponse
	// err is the reason of an end without such a response. It may be read when incoming is closed.
	// Nil: the context or the client has ended.
	err error

	client   etcdserverpb.WatchClient
	request  *etcdserverpb.WatchCreateRequest
	progress chan struct{} // has a value if progress is requested
	close    func()        // ends the goroutines; idempotent
}

// openStream begins a watch, which ends with ctx or close. The caller must call close. A watch of a
// member that loses its leader ends. After a broken connection it continues.
func (b *Backend) openStream(ctx context.Context, request *etcdserverpb.WatchCreateRequest) *stream {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	s := &stream{
		incoming: make(chan clientv3.WatchResponse),
		client:   watchClient(b.client),
		request:  request,
		progress: make(chan struct{}, 1),
	}
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx) })
	s.close = func() {
		cancel()
		running.Wait()
	}
	return s
}

// watchKey returns the request for the changes of a key from a revision on.
func watchKey(path string, since int64) *etcdserverpb.WatchCreateRequest {
	return &etcdserverpb.WatchCreateRequest{Key: []byte(path), StartRevision: since}
}

// watchPrefix returns the request for the changes of all keys with a prefix from a revision on.
func watchPrefix(prefix string, since int64) *etcdserverpb.WatchCreateRequest {
	request := watchKey(prefix, since)
	request.RangeEnd = []byte(clientv3.GetPrefixRangeEnd(prefix))
	return request
}

// requestProgress requests a progress notification from etcd. Requests that were not sent yet count
// as one. etcd ignores a request while the watch is behind.
func (s *stream) requestProgress() {
	select {
	case s.progress <- struct{}{}:
	default:
	}
}

// run receives until the watch ends.
func (s *stream) run(ctx context.Context) {
	defer close(s.incoming)
	for delay := reopenDelay; ; delay = min(2*delay, maxReopenDelay) {
		received, err := s.receive(ctx)
		if ctx.Err() != nil || err == nil || codeOf(err) == codes.Canceled {
			return
		}
		if !isBroken(err) {
			s.err = err
			return
		}
		if received {
			delay = reopenDelay
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
	}
}

// isBroken reports whether a stream has failed in a way that another stream may not. Its watch
// would miss nothing, but a member without a leader could delay it for a long time.
func isBroken(err error) bool {
	code := codeOf(err)
	return (code == codes.Unavailable || code == codes.Internal) && !errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader)
}

// receive opens a gRPC stream and passes its responses on. It returns nil after the last response
// of the watch, and whether etcd has accepted the watch.
func (s *stream) receive(ctx context.Context) (received bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var sending sync.WaitGroup
	defer sending.Wait()
	defer cancel()
	rpc, err := s.client.Watch(ctx, grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		return false, err
	}
	created := make(chan struct{})
	sending.Go(func() { s.send(ctx, rpc, created) })
	for {
		resp, err := rpc.Recv()
		if err != nil {
			return received, err
		}
		received = true
		s.advance(resp)
		if resp.Created && !resp.Canceled {
			close(created)
			continue
		}
		select {
		case s.incoming <- clientv3.WatchResponse{
			Header: resp.Header, Events: resp.Events, Created: resp.Created,
			CompactRevision: resp.CompactRevision, Canceled: resp.Canceled, CancelReason: resp.CancelReason,
		}:
		case <-ctx.Done():
			return received, ctx.Err()
		}
		if resp.Canceled {
			return received, nil
		}
	}
}

// send sends the requests of a gRPC stream. If it fails the receiver gets the error. It requests no
// progress before the watch is created: etcd holds back the events until then, but not progress.
func (s *stream) send(ctx context.Context, rpc etcdserverpb.Watch_WatchClient, created <-chan struct{}) {
	err := rpc.Send(&etcdserverpb.WatchRequest{RequestUnion: &etcdserverpb.WatchRequest_CreateRequest{CreateRequest: s.request}})
	select {
	case <-created:
	case <-ctx.Done():
		return
	}
	for err == nil {
		select {
		case <-s.progress:
			err = rpc.Send(&etcdserverpb.WatchRequest{RequestUnion: &etcdserverpb.WatchRequest_ProgressRequest{
				ProgressRequest: &etcdserverpb.WatchProgressRequest{},
			}})
		case <-ctx.Done():
			return
		}
	}
}

// advance lets the next gRPC stream begin after a response. All events of a revision are in one
// response, because the watch does not request fragments.
func (s *stream) advance(resp *etcdserverpb.WatchResponse) {
	next := s.request.StartRevision
	if n := len(resp.Events); n > 0 {
		next = resp.Events[n-1].Kv.ModRevision + 1
	} else if !resp.Created && !resp.Canceled {
		next = max(next, resp.Header.GetRevision()+1)
	}
	if next != s.request.StartRevision {
		s.request = proto.CloneOf(s.request)
		s.request.StartRevision = next
	}
}
