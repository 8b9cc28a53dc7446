package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

var errNoObject = errors.New("the proposal has no object")

// update is one call of GuaranteedUpdate or Delete. It is the same in every attempt.
type update struct {
	store *resourceStore
	op    string // for errors: "update" or "delete"
	target
	propose storage.ProposeFunc
	opts    storage.UpdateOptions
}

// change is the effect of a proposal on the key.
type change struct {
	kind    changeKind
	data    []byte // to write
	ttl     *int64 // nil keeps the lease
	receipt string // value of the receipt, "" for none
	unique  bool   // the write creates an object with a UID
}

type changeKind int

const (
	changeNone changeKind = iota // the proposal equals the stored object
	changeWrite
	changeDelete
)

// GuaranteedUpdate implements storage.Interface.
func (s *resourceStore) GuaranteedUpdate(ctx context.Context, key string, propose storage.ProposeFunc, opts storage.UpdateOptions) (*storage.UpdateResult, error) {
	t, err := s.target("update", key)
	if err != nil {
		return nil, err
	}
	u := &update{store: s, op: "update", target: t, propose: propose, opts: opts}
	return u.run(ctx)
}

// run makes attempts until one succeeds or fails with an error that is not due to a stale
// suggestion.
func (u *update) run(ctx context.Context) (*storage.UpdateResult, error) {
	st, err := u.start(ctx)
	if err != nil {
		return nil, err
	}
	for {
		next, err := u.attempt(ctx, st)
		if err != nil || next.kind == changeNone {
			fresh, readErr := u.recheck(ctx, st)
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
		result, current, err := u.apply(ctx, st, next)
		if err != nil || result != nil {
			return result, err
		}
		st = current // another write came first
	}
}

// attempt calls propose and returns the effect of the proposal.
func (u *update) attempt(ctx context.Context, st *state) (change, error) {
	if st.entry == nil && !u.opts.CreateIfAbsent {
		return change{}, failed(u.op, u.key, 0, storage.ErrNotFound, nil)
	}
	if err := u.checkPreconditions(ctx, st); err != nil {
		return change{}, rejected(u.op, u.key, st.revision, err)
	}
	proposal, err := u.propose(ctx, st.entry)
	if err != nil {
		return change{}, err
	}
	next, err := u.effect(ctx, st, proposal)
	if err != nil {
		return change{}, rejected(u.op, u.key, st.revision, err)
	}
	return next, nil
}

// effect returns the effect of a proposal on a state.
func (u *update) effect(ctx context.Context, st *state, p storage.Proposal) (change, error) {
	if p.Delete {
		if st.entry == nil {
			return change{}, storage.ErrNotFound
		}
		return change{kind: changeDelete, receipt: newReceipt(p.Receipt)}, nil
	}
	if p.TTL != nil && *p.TTL < 0 {
		return change{}, errNegativeTTL
	}
	data, err := u.encode(ctx, st, p.Object)
	if err != nil {
		return change{}, err
	}
	if st.equals(data) {
		return change{kind: changeNone}, nil
	}
	return change{
		kind: changeWrite, data: data, ttl: p.TTL,
		receipt: newReceipt(p.Receipt), unique: st.entry == nil && hasUID(p.Object),
	}, nil
}

// encode returns the bytes of a proposed object. It may write to the object, unless that is the
// shared object of the current entry.
func (u *update) encode(ctx context.Context, st *state, obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, errNoObject
	}
	if st.entry != nil {
		if current, err := st.entry.ObjectContext(ctx); err == nil && current == obj {
			return u.store.encodeShared(obj)
		}
	}
	return u.store.encode(obj)
}

// apply carries out a change. If the key no longer has the revision of the state it returns the
// current state, and neither a result nor an error.
func (u *update) apply(ctx context.Context, st *state, next change) (result *storage.UpdateResult, current *state, err error) {
	if next.kind == changeNone {
		return &storage.UpdateResult{Entry: st.entry, Outcome: storage.Unchanged}, nil, nil
	}
	if u.opts.DryRun {
		return u.result(st, next, st.revision), nil, nil
	}
	txn, err := u.send(ctx, st, next)
	if err != nil {
		return nil, nil, err
	}
	if !txn.succeeded {
		current, err = u.stateOf(ctx, txn.current)
		return nil, current, err
	}
	return u.result(st, next, txn.revision), nil, nil
}

// send sends the transaction of a change.
func (u *update) send(ctx context.Context, st *state, next change) (txnResult, error) {
	w := guardedWrite{
		op: u.op, target: u.target, revision: st.revision, data: next.data,
		readCurrent: true, unique: next.unique, receipt: next.receipt,
	}
	switch {
	case next.kind == changeDelete:
		return u.store.remove(ctx, w)
	case next.ttl != nil:
		w.ttl = *next.ttl
	default:
		w.keepLease = st.suggested || st.lease != clientv3.NoLease
	}
	return u.store.put(ctx, w)
}

// result returns the result of a change that was made at revision.
func (u *update) result(st *state, next change, revision int64) *storage.UpdateResult {
	switch {
	case next.kind == changeDelete:
		return &storage.UpdateResult{Entry: u.store.entry(u.key, st.data, revision), Outcome: storage.Deleted}
	case st.entry == nil:
		return &storage.UpdateResult{Entry: u.store.entry(u.key, next.data, revision), Outcome: storage.Created}
	default:
		return &storage.UpdateResult{Entry: u.store.entry(u.key, next.data, revision), Outcome: storage.Updated}
	}
}
