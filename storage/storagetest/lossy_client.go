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

// lossyKV is the KV of a client that loses the responses of some of its writes, and sends some of
// those writes late.
type lossyKV struct {
	clientv3.KV
	share float64 // of writes whose responses are lost
	ended atomic.Bool

	mu     sync.Mutex
	random *rand.Rand    // guarded by mu
	late   []clientv3.Op // guarded by mu
}

// LoseAnswers makes a client lose the responses of a share of its writes. Such a write happens
// before the error is returned, never, or during a later write of the client. The client must not
// be in use yet. The seed 0 selects a random seed. end stops the losses.
func LoseAnswers(client *clientv3.Client, share float64, seed uint64) (end func()) {
	if seed == 0 {
		seed = rand.Uint64()
	}
	l := &lossyKV{KV: client.KV, share: share, random: rand.New(rand.NewPCG(seed, 0))}
	client.KV = l
	return func() { l.ended.Store(true) }
}

// Put implements clientv3.KV.
func (l *lossyKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resp, err := l.Do(ctx, clientv3.OpPut(key, value, opts...))
	return resp.Put(), err
}

// Do implements clientv3.KV.
func (l *lossyKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if op.IsGet() {
		return l.KV.Do(ctx, op)
	}
	if late, ok := l.takeLate(); ok {
		_, _ = l.KV.Do(context.WithoutCancel(ctx), late) // its caller has received an error
	}
	lost := status.Error(codes.Unknown, "the response is lost")
	switch l.outcome() {
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

type outcome int

const (
	answered outcome = iota
	happened
	delayed
	dropped
)

func (l *lossyKV) outcome() outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Load() || l.random.Float64() >= l.share {
		return answered
	}
	return pick(l.random, []outcome{happened, delayed, dropped})
}

// takeLate returns, at random, one of the delayed writes.
func (l *lossyKV) takeLate() (clientv3.Op, bool) {
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
