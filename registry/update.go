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

// errGone ends an update whose object another request has removed.
var errGone = errors.New("the object no longer exists")

// Update changes an object. It is the one path of PUT, PATCH, apply and of the subresources that
// can be written. A proposal with a resourceVersion is a 409 unless the stored object has that
// resourceVersion; a proposal without one applies to the latest state, if the strategy of the
// kind allows it. An update that changes nothing writes nothing. An update that removes the last
// finalizer of an object that is being deleted removes the object, and the result is the
// submitted object. As in kube-apiserver, an object that is too large is written without its
// managed fields, except by an apply.
func (s *Store) Update(ctx context.Context, req UpdateRequest) (_ Result, err error) {
	ctx, end := s.span(ctx, "update")
	defer end(&err)
	if err := s.checkWritable(req.Name); err != nil {
		return Result{}, err
	}
	op, err := s.newUpdateOp(req)
	if err != nil {
		return Result{}, err
	}
	ctx = s.catalog.withClock(ctx)
	defer func() { op.attempt.tx.rollback(ctx) }()
	if op.createsIfAbsent() {
		defer s.beginCreation(req.Namespace)()
	}
	defer s.writes.Add(1)
	res, err := op.run(ctx)
	if errors.Is(err, storage.ErrTooLarge) && !req.Applied && op.view == nil {
		op.untracked = true
		res, err = op.run(ctx)
	}
	return op.finish(ctx, res, err)
}

func (op *updateOp) run(ctx context.Context) (*storage.UpdateResult, error) {
	return op.store.storage.GuaranteedUpdate(ctx, op.key, op.step, storage.UpdateOptions{
		CreateIfAbsent: op.createsIfAbsent(),
		DryRun:         op.req.Options.DryRun,
	})
}

// updateOp is one call of Update. Only attempt changes from one run of step to the next, and
// untracked after a run of all steps.
type updateOp struct {
	store    *Store
	req      UpdateRequest
	key      string
	view     *View // nil if the body is of the kind of the resource
	strategy *UpdateStrategy
	attempt  attempt
	// untracked is set if the object is too large with its managed fields.
	untracked bool
}

// attempt is the state of the latest run of step.
type attempt struct {
	tx *transaction
	// unfinalized is the submitted object, if it removes the last finalizer.
	unfinalized runtime.Object
	// conflict is set if the write is based on another state than the stored one.
	conflict *Conflict
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

// createsIfAbsent reports whether an absent object is created. Apply creates no object through a
// subresource.
func (op *updateOp) createsIfAbsent() bool {
	if op.view != nil {
		return false
	}
	return op.req.ForceCreate && op.req.Subresource == "" || op.req.CreateIfAbsent && op.strategy.AllowCreate
}

// step returns the next state of the object. It runs again on the new state after a lost race,
// and keeps only one fact of the previous run: an object whose last finalizer was removed is not
// created again if another request has removed it.
func (op *updateOp) step(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	previous := op.attempt
	op.attempt = attempt{tx: op.store.begin()}
	previous.tx.rollback(ctx)
	if err := op.store.checkReplaced(); err != nil {
		return storage.Proposal{}, err
	}
	if current == nil {
		if previous.unfinalized != nil {
			op.attempt.unfinalized = previous.unfinalized
			return storage.Proposal{}, errGone
		}
		return op.asCreate(ctx)
	}
	next, err := op.prepare(ctx, current)
	if err != nil {
		return storage.Proposal{}, err
	}
	if next.removesLastFinalizer(op.store.resource.Strategy.Delete.Holds) {
		return op.asDelete(ctx, next)
	}
	return op.asUpdate(next)
}

// asCreate proposes a new object. Its resourceVersion may be any revision.
func (op *updateOp) asCreate(ctx context.Context) (storage.Proposal, error) {
	obj, err := op.proposal(ctx, nil)
	if err != nil {
		return storage.Proposal{}, err
	}
	if _, err := op.store.storage.Versioner().ObjectResourceVersion(obj); err != nil {
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

// authorizeCreate requires the verb create for an update that creates an object.
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

// createOptions returns the options of an update that creates an object.
func (op *updateOp) createOptions() WriteOptions {
	options := op.req.Options
	options.Sent = optionsOfCreate(options.Sent)
	return options
}

// asUpdate proposes the changed object.
func (op *updateOp) asUpdate(next *pendingUpdate) (storage.Proposal, error) {
	proposal := storage.Proposal{Object: next.obj, Receipt: op.req.Receipt || op.attempt.tx.isNeeded()}
	if timeToLive := op.store.resource.Strategy.TTL; timeToLive != nil {
		ttl := timeToLive(next.obj, true)
		proposal.TTL = &ttl
	}
	return proposal, nil
}

// asDelete proposes the removal of an object that was only kept by its finalizers. The update
// itself does not happen.
func (op *updateOp) asDelete(ctx context.Context, next *pendingUpdate) (storage.Proposal, error) {
	op.attempt.tx.rollback(ctx)
	op.attempt = attempt{tx: op.store.begin(), unfinalized: next.obj}
	op.store.beginDelete(ctx, op.attempt.tx, next.old)
	return storage.Proposal{Delete: true, Receipt: op.attempt.tx.isNeeded()}, nil
}

// finish ends the transaction and returns the result.
func (op *updateOp) finish(ctx context.Context, res *storage.UpdateResult, err error) (Result, error) {
	if op.attempt.unfinalized != nil && (errors.Is(err, errGone) || errors.Is(err, storage.ErrNotFound)) {
		op.attempt.tx.rollback(ctx)
		return op.result(ctx, computedEntry(op.attempt.unfinalized), false)
	}
	op.attempt.tx.end(ctx, err, op.req.Options.DryRun)
	if err != nil {
		return Result{}, op.store.explain(ctx, op.attempt.conflict, op.call().interpret(err))
	}
	entry := res.Entry
	if res.Outcome == storage.Deleted {
		entry = computedEntry(op.attempt.unfinalized)
	}
	return op.result(ctx, entry, res.Outcome == storage.Created)
}

func (op *updateOp) result(ctx context.Context, entry *storage.Entry, created bool) (Result, error) {
	if op.view == nil {
		return Result{Entry: entry, Created: created}, nil
	}
	shown, err := op.store.viewEntry(ctx, entry, op.view.FromObject)
	return Result{Entry: shown}, err
}

func (op *updateOp) call() call { return op.store.call("update", op.req.Name, op.key) }
