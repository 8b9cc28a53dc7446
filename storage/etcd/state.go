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

// state is what a write starts from: a key as it was read, or as a cache
// suggests that it is.
type state struct {
	entry    *storage.Entry   // nil: nothing is there
	revision int64            // ModRevision, 0: nothing is there
	data     []byte           // as the codec made it
	stale    bool             // the transformer wants it written again
	lease    clientv3.LeaseID // not known of a suggestion
	// suggested: it comes from a cache and may be out of date. It must not
	// have the last word; a guarded transaction may.
	suggested bool
}

// trusted drops the suggestion of a dry run, for there no transaction would
// ever find out that it is old.
func trusted(suggestion *storage.Entry, dryRun bool) *storage.Entry {
	if dryRun {
		return nil
	}
	return suggestion
}

// start returns the suggestion, if there is one that can be read and has its
// stored bytes, or else what is in etcd.
func (s *store) start(ctx context.Context, op string, t target, suggestion *storage.Entry) (*state, error) {
	if suggestion != nil && suggestion.Revision > 0 && suggestion.Data() != nil {
		if _, err := suggestion.Object(); err == nil {
			return &state{entry: suggestion, revision: suggestion.Revision, data: suggestion.Data(), suggested: true}, nil
		}
	}
	return s.read(ctx, op, t)
}

// read returns what is in etcd.
func (s *store) read(ctx context.Context, op string, t target) (*state, error) {
	resp, err := s.client.Get(ctx, t.path, s.consistent()...)
	if err != nil {
		return nil, readError(op, t.key, err)
	}
	if len(resp.Kvs) == 0 {
		return &state{}, nil
	}
	return s.stateOf(ctx, t, resp.Kvs[0])
}

// recheck reads again where an outcome that writes nothing rests on a
// suggestion, for no transaction will find out that it is old. It returns what
// to start from instead; nil: the outcome stands.
func (s *store) recheck(ctx context.Context, op string, t target, st *state) (*state, error) {
	if !st.suggested {
		return nil, nil
	}
	fresh, err := s.read(ctx, op, t)
	if err != nil || fresh.revision == st.revision && !fresh.stale && bytes.Equal(fresh.data, st.data) {
		return nil, err
	}
	return fresh, nil
}

// stateOf returns the state of what etcd holds, nil being nothing.
func (s *store) stateOf(ctx context.Context, t target, kv *mvccpb.KeyValue) (*state, error) {
	if kv == nil {
		return &state{}, nil
	}
	data, stale, err := s.fromStorage(ctx, t.key, kv.Value)
	if err != nil {
		return nil, err
	}
	return &state{
		entry:    s.entry(t.key, data, kv.ModRevision),
		revision: kv.ModRevision,
		data:     data,
		stale:    stale,
		lease:    clientv3.LeaseID(kv.Lease),
	}, nil
}

// checkPreconditions holds preconditions against a state. Against nothing they
// are held as kube-apiserver does it: it has neither UID nor version.
func (s *store) checkPreconditions(op string, t target, st *state, p *storage.Preconditions) error {
	if p == nil {
		return nil
	}
	current := st.entry
	if current == nil {
		current = storage.NewEntry(t.key, 0, func() (runtime.Object, error) { return &metav1.PartialObjectMetadata{}, nil })
	}
	if err := p.Check(current); err != nil {
		return refused(op, t.key, st.revision, err)
	}
	return nil
}

// holds reports whether data is what the state holds already, so that writing it
// would change nothing.
func (st *state) holds(data []byte) bool {
	return st.entry != nil && !st.stale && bytes.Equal(st.data, data)
}

// deleted returns the entry of a state that was deleted at revision.
func (s *store) deleted(st *state, revision int64) *storage.Entry {
	return s.entry(st.entry.Key, st.data, revision)
}
