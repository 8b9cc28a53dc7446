package storagetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// loss is a client's KV that loses the answers to some of its writes, and
// delivers some of those writes late.
type loss struct {
	clientv3.KV
	share float64 // of writes whose answers are lost
	ended atomic.Bool

	mu     sync.Mutex
	random *rand.Rand    // guarded by mu
	late   []clientv3.Op // guarded by mu
}

// LoseAnswers makes a client lose the answers to a share of its writes. Of those
// writes one happens before the error is returned, one never, and one while a
// later write of the client is on its way. The client must not be in use yet. The
// seed 0 stands for any. end ends the losses.
func LoseAnswers(client *clientv3.Client, share float64, seed uint64) (end func()) {
	if seed == 0 {
		seed = rand.Uint64()
	}
	l := &loss{KV: client.KV, share: share, random: rand.New(rand.NewPCG(seed, 0))}
	client.KV = l
	return func() { l.ended.Store(true) }
}

// Put implements clientv3.KV.
func (l *loss) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := l.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// Do implements clientv3.KV.
func (l *loss) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if op.IsGet() {
		return l.KV.Do(ctx, op)
	}
	if late, due := l.due(); due {
		_, _ = l.KV.Do(context.WithoutCancel(ctx), late) // its caller has had an error
	}
	lost := status.Error(codes.Unknown, "the answer is lost")
	switch l.fate() {
	case answered:
		return l.KV.Do(ctx, op)
	case happened:
		_, _ = l.KV.Do(ctx, op)
		return clientv3.OpResponse{}, lost
	case delayed:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.late = append(l.late, op)
		return clientv3.OpResponse{}, lost
	default:
		return clientv3.OpResponse{}, lost
	}
}

type fate int

const (
	answered fate = iota
	happened
	delayed
	dropped
)

func (l *loss) fate() fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Load() || l.random.Float64() >= l.share {
		return answered
	}
	return pick(l.random, []fate{happened, delayed, dropped})
}

// due returns one of the writes that are late, now and then.
func (l *loss) due() (clientv3.Op, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) == 0 || l.random.IntN(3) > 0 {
		return clientv3.Op{}, false
	}
	i := l.random.IntN(len(l.late))
	op := l.late[i]
	l.late = append(l.late[:i:i], l.late[i+1:]...)
	return op, true
}
