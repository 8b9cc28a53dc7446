package storagetest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// recorder records the history of the store's keys from a watch of etcd, without using the store.
type recorder struct {
	Fixture
	kind  Kind
	begun int64

	mu      sync.Mutex
	changed sync.Cond
	changes []model.Change
	last    int64
	err     error // why it has ended
}

func newRecorder(f Fixture, kind Kind, begun int64) *recorder {
	r := &recorder{Fixture: f, kind: kind, begun: begun, last: begun}
	r.changed.L = &r.mu
	return r
}

// run records until the context ends.
func (r *recorder) run(ctx context.Context) {
	responses := r.Client.Watch(ctx, r.Prefix+"/"+r.kind.Resource+"/", clientv3.WithPrefix(), clientv3.WithRev(r.begun+1))
	for resp := range responses {
		changes, err := r.decode(ctx, resp)
		r.mu.Lock()
		if r.changes = append(r.changes, changes...); len(changes) > 0 {
			r.last = changes[len(changes)-1].Revision
		}
		if r.err == nil {
			r.err = err
		}
		r.mu.Unlock()
		r.changed.Broadcast()
	}
	r.end(ctx)
}

func (r *recorder) end(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf("the etcd watch ended: %w", context.Cause(ctx))
	}
	r.changed.Broadcast()
}

func (r *recorder) decode(ctx context.Context, resp clientv3.WatchResponse) ([]model.Change, error) {
	if err := resp.Err(); err != nil {
		return nil, err
	}
	changes := make([]model.Change, len(resp.Events))
	for i, e := range resp.Events {
		changes[i] = model.Change{
			Revision: e.Kv.ModRevision,
			Key:      strings.TrimPrefix(string(e.Kv.Key), r.Prefix),
			Deleted:  e.Type == clientv3.EventTypeDelete,
		}
		if changes[i].Deleted {
			continue
		}
		var err error
		if changes[i].Object, err = r.object(ctx, e.Kv); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

func (r *recorder) object(ctx context.Context, kv *mvccpb.KeyValue) (model.Object, error) {
	data, err := r.plain(ctx, kv)
	if err != nil {
		return model.Object{}, err
	}
	obj, err := r.kind.Codec.Decode(data)
	if err != nil {
		return model.Object{}, err
	}
	return modelObject(obj.(Object)), nil
}

// modelObject returns the model of an object.
func modelObject(obj Object) model.Object {
	return model.Object{Value: valueOf(obj), Colour: colourOf(obj)}
}

// recorded returns the revision up to which the history is recorded.
func (r *recorder) recorded() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// upTo waits until the history is recorded up to a revision, and returns it.
func (r *recorder) upTo(ctx context.Context, revision int64) ([]model.Change, error) {
	stop := context.AfterFunc(ctx, r.changed.Broadcast)
	defer stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.last < revision && r.err == nil {
		r.changed.Wait()
	}
	return r.changes, r.err
}
