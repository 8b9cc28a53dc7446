package etcd

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/miniapi/miniapi/storage"
)

// failingEtcd answers every transaction with the error of answer.
type failingEtcd struct {
	pb.UnimplementedKVServer
	answer func(ctx context.Context) error
	txns   atomic.Int64
}

func (f *failingEtcd) Txn(ctx context.Context, _ *pb.TxnRequest) (*pb.TxnResponse, error) {
	f.txns.Add(1)
	return nil, f.answer(ctx)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func serve(t *testing.T, f *failingEtcd) (server *grpc.Server, address string) {
	t.Helper()
	listener := listen(t)
	server = grpc.NewServer()
	pb.RegisterKVServer(server, f)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server, listener.Addr().String()
}

func dialed(t *testing.T, address string, opts ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{address},
		Logger:      zap.NewNop(),
		DialOptions: append(opts, AtMostOnce()),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestOutcomeOfWrites(t *testing.T) {
	t.Run("a write without an answer before its deadline has an unknown outcome", func(t *testing.T) {
		etcd := &failingEtcd{answer: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		_, address := serve(t, etcd)
		s := newStore(t, Config{Client: dialed(t, address)})
		err := error(storage.ErrUnavailable)
		for deadline := 100 * time.Millisecond; errors.Is(err, storage.ErrUnavailable); deadline *= 2 { // until it is sent in time
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			_, err = s.Create(ctx, configMapKey(0), configMap("0"), storage.CreateOptions{})
			cancel()
		}
		if !errors.Is(err, storage.ErrUnknownOutcome) {
			t.Errorf("got %v, want %v", err, storage.ErrUnknownOutcome)
		}
		if n := etcd.txns.Load(); n > 1 {
			t.Errorf("the write was sent %d times", n)
		}
	})
	t.Run("a write is not cancelled with its caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		etcd := &failingEtcd{answer: func(sent context.Context) error {
			cancel()
			if sent.Err() != nil {
				t.Error("it was cancelled")
			}
			return status.Error(codes.InvalidArgument, "no")
		}}
		expectCreate(t, ctx, etcd, storage.ErrUnavailable)
	})
	t.Run("a write whose connection breaks has an unknown outcome", func(t *testing.T) {
		etcd := &failingEtcd{}
		server, address := serve(t, etcd)
		etcd.answer = func(ctx context.Context) error {
			go server.Stop() // waits for this answer; the cleanup of the test waits for the server
			<-ctx.Done()
			return ctx.Err()
		}
		createOn(t, t.Context(), dialed(t, address), storage.ErrUnknownOutcome)
		expectOneTxn(t, etcd)
	})
	for _, code := range []codes.Code{codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Internal} {
		t.Run("a write answered with "+code.String()+" has an unknown outcome", func(t *testing.T) {
			etcd := &failingEtcd{answer: func(context.Context) error { return status.Error(code, "reset") }}
			expectCreate(t, t.Context(), etcd, storage.ErrUnknownOutcome)
		})
	}
	t.Run("a write that etcd rejects has not happened", func(t *testing.T) {
		etcd := &failingEtcd{answer: func(context.Context) error { return status.Error(codes.InvalidArgument, "no") }}
		expectCreate(t, t.Context(), etcd, storage.ErrUnavailable)
	})
	t.Run("a write without a connection has not happened", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		refuse := func(context.Context, string) (net.Conn, error) {
			cancel() // otherwise the write waits for a connection
			return nil, errors.New("refused")
		}
		client := dialed(t, "127.0.0.1:1", grpc.WithContextDialer(refuse))
		createOn(t, ctx, client, storage.ErrUnavailable)
	})
	t.Run("a write whose context has ended is not sent", func(t *testing.T) {
		etcd := &failingEtcd{}
		_, address := serve(t, etcd)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		createOn(t, ctx, dialed(t, address), storage.ErrUnavailable)
		if n := etcd.txns.Load(); n != 0 {
			t.Errorf("it was sent %d times", n)
		}
	})
}

// etcd returns ErrNoSpace for writes that it rejects, and for the last writes that it has applied.
func TestWriteThatTakesTheLastSpaceMayHaveHappened(t *testing.T) {
	s := newStore(t, Config{Client: dialSmall(t)})
	var full atomic.Bool
	write := func(i int) {
		object := configMap("large")
		object.BinaryData = map[string][]byte{"space": make([]byte, 1<<20)}
		_, err := s.Create(t.Context(), configMapKey(i), object, storage.CreateOptions{})
		if err == nil {
			return
		}
		full.Store(true)
		if _, absent := s.Get(t.Context(), configMapKey(i), storage.GetOptions{}); absent == nil && !errors.Is(err, storage.ErrUnknownOutcome) {
			t.Errorf("it was written: %v", err)
		}
	}
	const atOnce = 16 // otherwise etcd rejects the write before it applies it
	for n := 0; !full.Load(); n += atOnce {
		var group sync.WaitGroup
		for i := range atOnce {
			group.Go(func() { write(n + i) })
		}
		group.Wait()
	}
}

func expectCreate(t *testing.T, ctx context.Context, etcd *failingEtcd, want error) {
	t.Helper()
	_, address := serve(t, etcd)
	createOn(t, ctx, dialed(t, address), want)
	expectOneTxn(t, etcd)
}

func expectOneTxn(t *testing.T, etcd *failingEtcd) {
	t.Helper()
	if n := etcd.txns.Load(); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
}

func createOn(t *testing.T, ctx context.Context, client *clientv3.Client, want error) {
	t.Helper()
	s := newStore(t, Config{Client: client})
	_, err := s.Create(ctx, configMapKey(0), configMap("0"), storage.CreateOptions{})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}
