package garbagecollector

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/versioner"
)

// parallelReleases is the number of dependents of an owner that are orphaned at the same time.
const parallelReleases = 8

// collect deletes an object, or removes the references to owners that are gone, or does nothing.
func (c *Collector) collect(ctx context.Context, obj *item, owners owners) error {
	gone := slices.Concat(owners.dangling, owners.waiting)
	switch {
	case len(owners.solid) > 0 && len(gone) == 0:
		return nil
	case len(owners.solid) > 0:
		// A reference to a waiting owner would keep the owner for ever.
		return update(ctx, obj.Location, obj.UID, func(obj metav1.Object) { removeReferences(obj, gone) })
	}
	hasDependents, inCycle, err := c.examineDependents(ctx, obj, owners)
	if err != nil {
		return err
	}
	if hasDependents {
		if inCycle {
			if err := update(ctx, obj.Location, obj.UID, unblockOwners); err != nil {
				return err
			}
		}
		return c.remove(ctx, obj.Location, obj, metav1.DeletePropagationForeground)
	}
	policy := metav1.DeletePropagationBackground
	if obj.HasFinalizer(metav1.FinalizerOrphanDependents) {
		policy = metav1.DeletePropagationOrphan
	} else if obj.HasFinalizer(metav1.FinalizerDeleteDependents) {
		policy = metav1.DeletePropagationForeground
	}
	return c.remove(ctx, obj.Location, obj, policy)
}

// examineDependents reports whether an object has dependents although an owner waits for it, and
// whether one of them waits for its own dependents: it may be an owner of the object.
func (c *Collector) examineDependents(ctx context.Context, obj *item, owners owners) (found, inCycle bool, err error) {
	if len(owners.waiting) == 0 {
		return false, false, nil
	}
	err = c.eachDependent(ctx, obj, owners.waitingAt, func(d dependent) bool {
		found, inCycle = true, d.foreground
		return !inCycle
	})
	return found, inCycle, err
}

// finishForeground releases an object that is deleted in the foreground, once no dependent blocks.
func (c *Collector) finishForeground(ctx context.Context, obj *item) error {
	blocked := false
	err := c.eachDependent(ctx, obj, obj.revision, func(d dependent) bool {
		blocked = d.blocking
		return !blocked
	})
	if blocked || err != nil {
		return err // the change of a dependent that blocks follows
	}
	return removeFinalizer(ctx, obj, metav1.FinalizerDeleteDependents)
}

// orphanDependents removes the references to an object from its dependents, and then releases it.
func (c *Collector) orphanDependents(ctx context.Context, obj *item) error {
	var dependents []dependent
	err := c.eachDependent(ctx, obj, obj.revision, func(d dependent) bool {
		dependents = append(dependents, d)
		return true
	})
	if err != nil {
		return err
	}
	snapshot, released := c.config.Catalog.Snapshot(), []types.UID{obj.UID}
	var group errgroup.Group
	group.SetLimit(parallelReleases)
	for _, d := range dependents {
		group.Go(func() error {
			location, ok := snapshot.Locate(d.key)
			if !ok {
				return errUnknownKind
			}
			return update(ctx, location, d.uid, func(dependent metav1.Object) { removeReferences(dependent, released) })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return removeFinalizer(ctx, obj, metav1.FinalizerOrphanDependents)
}

// remove deletes an object if its owner references have not changed. After a change of another part
// of the object it tries once more; the error of a further conflict leads to a later retry.
func (c *Collector) remove(ctx context.Context, location registry.Location, obj *item, policy metav1.DeletionPropagation) error {
	version := versioner.Format(obj.revision)
	preconditions := metav1.Preconditions{UID: &obj.UID, ResourceVersion: &version}
	err := deleteObject(ctx, location, policy, preconditions)
	if !apierrors.IsConflict(err) {
		return ignoreNotFound(err)
	}
	latest, readErr := read(ctx, location)
	if readErr != nil {
		return ignoreNotFound(readErr)
	}
	if latest.UID != obj.UID {
		return nil
	}
	if !equality.Semantic.DeepEqual(latest.OwnerReferences, obj.OwnerReferences) {
		return err
	}
	version = versioner.Format(latest.revision)
	return ignoreNotFound(deleteObject(ctx, location, policy, preconditions))
}
