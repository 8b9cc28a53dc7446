package registry

import (
	"cmp"
	"context"
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// errGone ends an update whose object somebody else removed.
var errGone = errors.New("the object is gone already")

// Update changes an object: it is the one path of PUT, PATCH, apply and of the
// subresources that can be written. A proposal with a resourceVersion is a 409
// unless it is that of the stored object; one without applies to the latest,
// where the kind's strategy allows that. An update that changes nothing writes
// nothing. If it takes the last finalizer from an object that is being deleted
// the object goes, and the answer is what was submitted.
func (s *Store) Update(ctx context.Context, req UpdateRequest) (Result, error) {
	op, err := s.newUpdateOp(req)
	if err != nil {
		return Result{}, err
	}
	defer func() { op.attempt.tx.rollback(ctx) }()
	defer s.writes.Add(1)
	res, err := s.storage.GuaranteedUpdate(ctx, op.key, op.step, storage.UpdateOptions{
		CreateIfAbsent: op.mayCreate(),
		DryRun:         req.Options.DryRun,
	})
	return op.finish(ctx, res, err)
}

// updateOp is one call of Update. Only attempt changes from one run of step to
// the next.
type updateOp struct {
	store    *Store
	req      UpdateRequest
	key      string
	view     *View // nil where the body is of the resource's own kind
	strategy *UpdateStrategy
	attempt  attempt
}

// attempt is what the latest run of step leaves behind.
type attempt struct {
	tx *transaction
	// emptied is what was submitted, if it takes away the last finalizer.
	emptied runtime.Object
}

func (s *Store) newUpdateOp(req UpdateRequest) (*updateOp, error) {
	op := &updateOp{store: s, req: req, strategy: &s.resource.Strategy.Update, attempt: attempt{tx: s.begin()}}
	if req.Subresource != "" {
		sub, ok := s.resource.Subresource(req.Subresource)
		if !ok || sub.Update == nil && sub.View == nil {
			return nil, s.unsupported("update")
		}
		op.view = sub.View
		if sub.Update != nil {
			op.strategy = sub.Update
		}
	}
	var err error
	op.key, err = s.key(req.Namespace, req.Name)
	return op, err
}

// mayCreate reports whether an absent object is created. Apply creates no object through a
// subresource.
func (op *updateOp) mayCreate() bool {
	if op.view != nil {
		return false
	}
	return op.req.ForceCreate && op.req.Subresource == "" || op.req.CreateIfAbsent && op.strategy.AllowCreate
}

// step makes the next state of the object. It runs again on the new state
// after a lost race, and takes nothing over from the run before but this: an
// object whose last finalizer that run took away is not created anew because
// somebody else was faster to remove it.
func (op *updateOp) step(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	last := op.attempt
	op.attempt = attempt{tx: op.store.begin()}
	last.tx.rollback(ctx)
	if current == nil {
		if last.emptied != nil {
			op.attempt.emptied = last.emptied
			return storage.Proposal{}, errGone
		}
		return op.asCreate(ctx)
	}
	next, err := op.transition(ctx, current)
	if err != nil {
		return storage.Proposal{}, err
	}
	if next.emptiesFinalizers(op.store.resource.Strategy.Delete.Holds) {
		return op.asDelete(ctx, next)
	}
	return op.asUpdate(next)
}

// asCreate proposes an object where there is none.
func (op *updateOp) asCreate(ctx context.Context) (storage.Proposal, error) {
	obj, err := op.proposal(ctx, nil)
	if err != nil {
		return storage.Proposal{}, err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return storage.Proposal{}, err
	}
	wipeSystemFields(accessor)
	creation, err := op.store.prepareCreate(ctx, op.attempt.tx, CreateRequest{
		Namespace: op.req.Namespace,
		Object:    obj,
		Options:   op.createOptions(),
	}, op.authorizeCreate)
	if err != nil {
		return storage.Proposal{}, err
	}
	return storage.Proposal{Object: obj, TTL: &creation.ttl, Receipt: op.req.Receipt}, nil
}

// authorizeCreate refuses an update that turns out to create an object unless its user has
// the verb create too.
func (op *updateOp) authorizeCreate(ctx context.Context) error {
	resource := op.store.resource
	return Authorize(ctx, op.store.catalog.Authorizer(), Access{
		User: UserFrom(ctx),
		Resource: &authorizationv1.ResourceAttributes{
			Verb: "create", Group: resource.Group, Version: cmp.Or(op.req.Options.Version, resource.Versions[0].Name),
			Resource: resource.Name, Subresource: op.req.Subresource, Namespace: op.req.Namespace, Name: op.req.Name,
		},
	})
}

// createOptions are those of a request that turns out to create.
func (op *updateOp) createOptions() WriteOptions {
	options := op.req.Options
	options.Sent = optionsOfCreate(options.Sent)
	return options
}

// asUpdate proposes the changed object.
func (op *updateOp) asUpdate(next *transition) (storage.Proposal, error) {
	proposal := storage.Proposal{Object: next.obj, Receipt: op.req.Receipt || op.attempt.tx.isNeeded()}
	if timeToLive := op.store.resource.Strategy.TTL; timeToLive != nil {
		ttl := timeToLive(next.obj, true)
		proposal.TTL = &ttl
	}
	return proposal, nil
}

// asDelete proposes to remove an object that waited for its finalizers only. The
// update itself does not happen.
func (op *updateOp) asDelete(ctx context.Context, next *transition) (storage.Proposal, error) {
	op.attempt.tx.rollback(ctx)
	op.attempt = attempt{tx: op.store.begin(), emptied: next.obj}
	op.store.beginDelete(ctx, op.attempt.tx, next.old)
	return storage.Proposal{Delete: true, Receipt: op.attempt.tx.isNeeded()}, nil
}

// finish turns what the storage came to into the answer.
func (op *updateOp) finish(ctx context.Context, res *storage.UpdateResult, err error) (Result, error) {
	if op.attempt.emptied != nil && (errors.Is(err, errGone) || errors.Is(err, storage.ErrNotFound)) {
		op.attempt.tx.rollback(ctx)
		return op.result(computedEntry(op.attempt.emptied), false)
	}
	op.attempt.tx.end(ctx, err, op.req.Options.DryRun)
	if err != nil {
		return Result{}, op.call().interpret(err)
	}
	entry := res.Entry
	if res.Outcome == storage.Deleted {
		entry = computedEntry(op.attempt.emptied)
	}
	return op.result(entry, res.Outcome == storage.Created)
}

func (op *updateOp) result(entry *storage.Entry, created bool) (Result, error) {
	if op.view == nil {
		return Result{Entry: entry, Created: created}, nil
	}
	shown, err := op.view.entry(entry)
	return Result{Entry: shown}, err
}

func (op *updateOp) call() call { return op.store.call("update", op.req.Name, op.key) }
