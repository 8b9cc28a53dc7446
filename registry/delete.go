package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

// Delete removes an object, or marks it as being deleted if finalizers, a grace period or the
// kind keep it. Nil options stand for a grace period of zero.
func (s *Store) Delete(ctx context.Context, req DeleteRequest) (_ DeleteResult, err error) {
	ctx, end := s.span(ctx, "delete")
	defer end(&err)
	return s.delete(ctx, req, "")
}

// delete deletes an object. uid is set for an object of a collection: an object with another UID is
// a 404.
func (s *Store) delete(ctx context.Context, req DeleteRequest, uid types.UID) (DeleteResult, error) {
	if err := s.checkWritable(req.Name); err != nil {
		return DeleteResult{}, err
	}
	key, err := s.key(req.Namespace, req.Name)
	if err != nil {
		return DeleteResult{}, err
	}
	op := &deleteOp{store: s, req: req, key: key, uid: uid, options: deleteOptions(req.Options), tx: s.begin()}
	defer func() { op.tx.rollback(ctx) }()
	if warnings := s.resource.Strategy.Delete.Warnings; warnings != nil {
		for _, text := range warnings(op.options) {
			AddWarning(ctx, text)
		}
	}
	defer s.writes.Add(1)
	res, err := s.storage.GuaranteedUpdate(ctx, key, op.step, storage.UpdateOptions{DryRun: op.dryRun()})
	op.tx.end(ctx, err, op.dryRun())
	if err != nil {
		return DeleteResult{}, s.explain(ctx, op.conflict, op.call().interpret(err))
	}
	return op.finish(ctx, res)
}

// deleteOptions returns a copy of the options, with the default for nil options and negative
// grace periods.
func deleteOptions(options *metav1.DeleteOptions) *metav1.DeleteOptions {
	if options == nil {
		return metav1.NewDeleteOptions(0)
	}
	options = options.DeepCopy()
	if grace := options.GracePeriodSeconds; grace != nil && *grace < 0 {
		*grace = 1
	}
	return options
}

// deleteOp is one call of Delete. Only the fields from verdict on change from one run of step
// to the next.
type deleteOp struct {
	store   *Store
	req     DeleteRequest
	key     string
	uid     types.UID // of the object of a collection; "" accepts the object with any uid
	options *metav1.DeleteOptions
	verdict deleteVerdict
	stored  types.UID // of the object
	// released is set if the object is removed because the options remove its last finalizer.
	released bool
	// conflict is set if the preconditions do not hold.
	conflict *Conflict
	tx       *transaction
}

func (op *deleteOp) dryRun() bool { return slices.Contains(op.options.DryRun, metav1.DryRunAll) }

func (op *deleteOp) call() call { return op.store.call("delete", op.req.Name, op.key) }

// step decides whether the stored object is kept, marked or removed.
func (op *deleteOp) step(ctx context.Context, current *storage.Entry) (storage.Proposal, error) {
	op.tx.rollback(ctx)
	op.tx, op.conflict = op.store.begin(), nil
	if err := op.store.checkReplaced(); err != nil {
		return storage.Proposal{}, err
	}
	old, err := current.ObjectContext(ctx)
	if err != nil {
		return storage.Proposal{}, err
	}
	if err := op.check(old, current); err != nil {
		return storage.Proposal{}, err
	}
	obj := old.DeepCopyObject()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return storage.Proposal{}, err
	}
	plan := deletion{
		obj:      obj,
		meta:     accessor,
		strategy: &op.store.resource.Strategy.Delete,
		options:  op.options.DeepCopy(),
		now:      op.store.now(),
	}
	op.stored = accessor.GetUID()
	hadFinalizers := len(accessor.GetFinalizers()) > 0
	if op.verdict = plan.decide(); op.verdict != deleteKeep {
		if err := op.admit(ctx, old, plan.options); err != nil {
			return storage.Proposal{}, err
		}
	}
	op.released = hadFinalizers && op.verdict == deleteRemove
	if op.verdict == deleteRemove {
		op.store.beginDelete(ctx, op.tx, old)
	}
	return storage.Proposal{Object: obj, Delete: op.verdict == deleteRemove, Receipt: op.tx.isNeeded()}, nil
}

// check checks the preconditions and the rules of the kind.
func (op *deleteOp) check(old runtime.Object, current *storage.Entry) error {
	accessor, err := meta.Accessor(old)
	if err != nil {
		return err
	}
	if op.uid != "" && op.uid != accessor.GetUID() {
		return storage.ErrNotFound
	}
	if err := op.checkPreconditions(accessor); err != nil {
		op.conflict = op.newConflict(accessor, current)
		return err
	}
	if forbidden := op.store.resource.Strategy.Delete.Forbidden; forbidden != nil {
		return forbidden(old)
	}
	return nil
}

// admit runs all admission on a deletion that changes the object. options are those of the
// deletion. As in kube-apiserver, a deletion that changes nothing is not admitted.
func (op *deleteOp) admit(ctx context.Context, old runtime.Object, options *metav1.DeleteOptions) error {
	attributes := &Attributes{
		Operation: OperationDelete,
		Namespace: op.req.Namespace,
		Name:      op.req.Name,
		OldObject: old,
		Options:   WriteOptions{DryRun: op.dryRun(), Version: op.req.Version, Sent: options},
	}
	if op.uid != "" {
		attributes.Name = ""
	}
	if _, err := op.store.admit(ctx, attributes); err != nil {
		return err
	}
	return op.store.validateAdmission(ctx, op.tx, attributes)
}

// checkPreconditions returns a conflict unless the object has the UID and the resourceVersion of
// the preconditions.
func (op *deleteOp) checkPreconditions(obj metav1.Object) error {
	expected := op.options.Preconditions
	if expected == nil {
		return nil
	}
	if uid := expected.UID; uid != nil && *uid != obj.GetUID() {
		return op.preconditionFailed(obj, "UID", string(*uid), string(obj.GetUID()))
	}
	if version := expected.ResourceVersion; version != nil && *version != obj.GetResourceVersion() {
		return op.preconditionFailed(obj, "ResourceVersion", *version, obj.GetResourceVersion())
	}
	return nil
}

// preconditionFailed returns the conflict for one field of the preconditions, with the texts of
// kube-apiserver: kinds with finalizers in the spec have one text; the text of the others has the
// kind in place of the resource.
func (op *deleteOp) preconditionFailed(obj metav1.Object, field, expected, stored string) error {
	if strategy := &op.store.resource.Strategy.Delete; strategy.Holds != nil {
		text := cmp.Or(strategy.PreconditionText, storage.ErrPrecondition.Error())
		return apierrors.NewConflict(op.store.resource.GroupResource(), obj.GetName(),
			fmt.Errorf("%s: %s in precondition: %s, %s in object meta: %s", text, field, expected, field, stored))
	}
	reason := "The object might have been modified"
	if field == "UID" {
		reason = "The object might have been deleted and then recreated"
	}
	kind := op.store.resource.hubKind()
	return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, obj.GetName(),
		fmt.Errorf("the %s in the precondition (%s) does not match the %s in record (%s). %s", field, expected, field, stored, reason))
}

// finish returns the result. It removes an object that was marked with a grace period of zero, so
// that watchers receive both events.
func (op *deleteOp) finish(ctx context.Context, res *storage.UpdateResult) (DeleteResult, error) {
	result := DeleteResult{Entry: res.Entry, UID: op.stored, ReturnObject: true}
	if op.verdict == deleteKeep || op.verdict == deleteMark {
		return result, nil
	}
	result.Removed = true
	switch {
	case op.dryRun() && op.released:
		// As in kube-apiserver, the response is an empty object of the kind.
		empty, err := op.store.resource.emptyObject()
		if err != nil {
			return DeleteResult{}, err
		}
		result.Entry = computedEntry(empty)
		return result, nil
	case op.verdict == deleteMarkAndRemove && !op.dryRun():
		var err error
		if result.Entry, err = op.removeMarked(ctx, res.Entry); err != nil {
			return DeleteResult{}, op.call().interpret(err)
		}
	}
	result.ReturnObject = op.store.resource.Strategy.Delete.ReturnObject
	return result, nil
}

// removeMarked removes the object that was marked. It succeeds if another request has removed
// that object.
func (op *deleteOp) removeMarked(ctx context.Context, marked *storage.Entry) (*storage.Entry, error) {
	obj, err := marked.ObjectContext(ctx)
	if err != nil {
		return nil, err
	}
	tx := op.store.begin()
	op.store.beginDelete(ctx, tx, obj)
	entry, err := op.store.storage.Delete(ctx, op.key, storage.DeleteOptions{
		Preconditions: &storage.Preconditions{UID: &op.stored},
		Receipt:       tx.isNeeded(),
	})
	tx.end(ctx, err, false)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrPrecondition) {
		return marked, nil
	}
	return entry, err
}
