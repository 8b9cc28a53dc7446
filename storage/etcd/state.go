package etcd

import (
	"bytes"
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// state is the state of a key that an attempt starts from. The zero value stands for an absent key.
type state struct {
	entry    *storage.Entry
	revision int64            // ModRevision
	data     []byte           // as the codec encoded it
	stale    bool             // the transformer requests a rewrite
	lease    clientv3.LeaseID // not known of a suggestion
	// suggested is set if the state comes from a cache and may be out of date. A guarded
	// transaction detects that. An outcome without a transaction needs a recheck.
	suggested bool
}

// start returns the state of the first attempt: the suggestion if it has stored bytes and can be
// decoded, otherwise the stored state. A dry run ignores the suggestion, since it sends no
// transaction that could detect a stale one.
func (u *update) start(ctx context.Context) (*state, error) {
	suggestion := u.opts.Suggestion
	if suggestion != nil && !u.opts.DryRun && suggestion.Revision > 0 && suggestion.Data() != nil {
		if _, err := suggestion.ObjectContext(ctx); err == nil {
			return &state{entry: suggestion, revision: suggestion.Revision, data: suggestion.Data(), suggested: true}, nil
		}
	}
	return u.read(ctx)
}

// read returns the stored state.
func (u *update) read(ctx context.Context) (*state, error) {
	resp, err := u.store.kv.Get(ctx, u.path, u.store.consistent()...)
	if err != nil {
		return nil, readError(u.op, u.key, err)
	}
	if len(resp.Kvs) == 0 {
		return &state{}, nil
	}
	return u.stateOf(ctx, resp.Kvs[0])
}

// recheck confirms an outcome that writes nothing. If it is based on a suggestion that is out of
// date, recheck returns the stored state for another attempt, otherwise nil.
func (u *update) recheck(ctx context.Context, st *state) (*state, error) {
	if !st.suggested {
		return nil, nil
	}
	fresh, err := u.read(ctx)
	if err != nil || fresh.revision == st.revision && !fresh.stale && bytes.Equal(fresh.data, st.data) {
		return nil, err
	}
	return fresh, nil
}

// stateOf returns the state of a value in etcd, nil being an absent key.
func (u *update) stateOf(ctx context.Context, kv *mvccpb.KeyValue) (*state, error) {
	if kv == nil {
		return &state{}, nil
	}
	data, stale, err := u.store.fromStorage(ctx, u.key, kv.Value)
	if err != nil {
		return nil, err
	}
	return &state{
		entry:    u.store.entry(u.key, data, kv.ModRevision),
		revision: kv.ModRevision,
		data:     data,
		stale:    stale,
		lease:    clientv3.LeaseID(kv.Lease),
	}, nil
}

// checkPreconditions checks the preconditions on a state. As in kube-apiserver, an absent object
// has neither a UID nor a resourceVersion.
func (u *update) checkPreconditions(ctx context.Context, st *state) error {
	if u.opts.Preconditions == nil {
		return nil
	}
	current := st.entry
	if current == nil {
		current = storage.NewEntry(u.key, 0, func() (runtime.Object, error) { return &metav1.PartialObjectMetadata{}, nil })
	}
	return u.opts.Preconditions.Check(ctx, current)
}

// equals reports whether writing data would change nothing.
func (st *state) equals(data []byte) bool {
	return st.entry != nil && !st.stale && bytes.Equal(st.data, data)
}
