package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

var errNoObject = errors.New("the proposal has no object")

// update is one call of GuaranteedUpdate. Nothing in it changes from one
// attempt to the next.
type update struct {
	*store
	target
	propose storage.ProposeFunc
	opts    storage.UpdateOptions
}

// change is what an attempt wants done to the key.
type change struct {
	kind changeKind
	data []byte // to write
	ttl  *int64 // nil: as it is
	// receipt is the value of the receipt, "": none.
	receipt string
	unique  bool // an object with a UID is created
}

type changeKind int

const (
	kept changeKind = iota // what is proposed is there already
	written
	removed
)

// GuaranteedUpdate implements storage.Interface.
func (s *store) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	t, err := s.target("update", key)
	if err != nil {
		return nil, err
	}
	u := &update{store: s, target: t, propose: propose, opts: opts}
	st, err := s.start(ctx, "update", t, trusted(opts.Suggestion, opts.DryRun))
	if err != nil {
		return nil, err
	}
	for {
		next, err := u.attempt(ctx, st)
		if err != nil || next.kind == kept {
			fresh, readErr := s.recheck(ctx, "update", t, st)
			if readErr != nil {
				return nil, readErr
			}
			if fresh != nil {
				st = fresh
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		result, current, err := u.commit(ctx, st, next)
		if err != nil || result != nil {
			return result, err
		}
		st = current // the race is lost: go on from what is there
	}
}

// attempt asks for a proposal and finds out what it comes to.
func (u *update) attempt(ctx context.Context, st *state) (change, error) {
	if st.entry == nil && !u.opts.CreateIfAbsent {
		return change{}, failed("update", u.key, 0, storage.ErrNotFound, nil)
	}
	if err := u.checkPreconditions("update", u.target, st, u.opts.Preconditions); err != nil {
		return change{}, err
	}
	proposal, err := u.propose(ctx, st.entry)
	if err != nil {
		return change{}, err
	}
	next, err := u.classify(st, proposal)
	if err != nil {
		return change{}, refused("update", u.key, st.revision, err)
	}
	return next, nil
}

// classify finds out whether a proposal writes, keeps or deletes.
func (u *update) classify(st *state, p storage.Proposal) (change, error) {
	if p.Delete {
		if st.entry == nil {
			return change{}, storage.ErrNotFound
		}
		return change{kind: removed, receipt: newReceipt(p.Receipt)}, nil
	}
	if p.TTL != nil && *p.TTL < 0 {
		return change{}, errNegativeTTL
	}
	data, err := u.encodeProposal(st, p.Object)
	if err != nil {
		return change{}, err
	}
	if st.holds(data) {
		return change{kind: kept}, nil
	}
	return change{
		kind: written, data: data, ttl: p.TTL,
		receipt: newReceipt(p.Receipt), unique: st.entry == nil && hasUID(p.Object),
	}, nil
}

// encodeProposal may write to the object, unless propose handed back the very
// one that it was shown.
func (u *update) encodeProposal(st *state, obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, errNoObject
	}
	if st.entry != nil {
		if current, err := st.entry.Object(); err == nil && current == obj {
			return u.encodeShared(obj)
		}
	}
	return u.encode(obj)
}

// commit does what the attempt wants. Without a result and an error the key has
// changed meanwhile: current is what is there now.
func (u *update) commit(ctx context.Context, st *state, next change) (result *storage.UpdateResult, current *state, err error) {
	if next.kind == kept {
		return &storage.UpdateResult{Entry: st.entry, Outcome: storage.Unchanged}, nil, nil
	}
	if u.opts.DryRun {
		return u.result(st, next, st.revision), nil, nil
	}
	v, err := u.send(ctx, st, next)
	if err != nil {
		return nil, nil, err
	}
	if !v.done {
		current, err = u.stateOf(ctx, u.target, v.current)
		return nil, current, err
	}
	return u.result(st, next, v.revision), nil, nil
}

func (u *update) send(ctx context.Context, st *state, next change) (verdict, error) {
	if next.kind == removed {
		return u.remove(ctx, "update", u.target, st.revision, next.receipt)
	}
	p := put{op: "update", target: u.target, revision: st.revision, data: next.data, orElse: true, unique: next.unique, receipt: next.receipt}
	if next.ttl != nil {
		p.ttl = *next.ttl
	} else {
		p.keepLease = st.suggested || st.lease != clientv3.NoLease
	}
	return u.write(ctx, p)
}

// result is what a change made at revision comes to.
func (u *update) result(st *state, next change, revision int64) *storage.UpdateResult {
	switch {
	case next.kind == removed:
		return &storage.UpdateResult{Entry: u.deleted(st, revision), Outcome: storage.Deleted}
	case st.entry == nil:
		return &storage.UpdateResult{Entry: u.entry(u.key, next.data, revision), Outcome: storage.Created}
	default:
		return &storage.UpdateResult{Entry: u.entry(u.key, next.data, revision), Outcome: storage.Updated}
	}
}
