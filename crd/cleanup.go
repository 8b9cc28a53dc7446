package crd

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/informer"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// startCleanup starts a goroutine that deletes the objects of a definition that is being deleted,
// unless it has been started before. Run waits for it.
func (c *Controller) startCleanup(ctx context.Context, r *registration) {
	crd := r.crd
	if r.cleaning || !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	r.cleaning = true
	c.cleanups.Go(func() {
		for ctx.Err() == nil {
			err := c.cleanUp(ctx, crd)
			if err == nil || ctx.Err() != nil {
				break
			}
			c.config.Logger.WarnContext(ctx, "custom resources: objects of a definition cannot be deleted", "name", crd.Name, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(informer.RetryInterval):
			}
		}
	})
}

// cleanUp deletes the objects, waits for the end of the deletion, and removes the finalizer of the
// definition. The catalog serves the definition as terminating already. cleanUp waits for the
// creations that began before: their objects would exist without a definition, and appear with the
// next definition of the same name.
func (c *Controller) cleanUp(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	done := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionFalse,
		Reason: "NeverEstablished", Message: "resource was never established",
	}
	if isEstablished(crd) {
		resource := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
		if err := c.config.Catalog.AwaitCreationsOf(ctx, resource); err != nil {
			return err
		}
		err := c.deleteObjects(ctx, crd)
		if errors.Is(err, errReplaced) || apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		done.Reason, done.Message = "InstanceDeletionCompleted", "removed all instances"
	}
	return c.updateStatus(ctx, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		apihelpers.SetCRDCondition(crd, done)
		apihelpers.CRDRemoveFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
	})
}

// deleteObjects deletes all objects and returns when none is left.
func (c *Controller) deleteObjects(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	definition := newDefinition(crd, c.webhooks)
	defer definition.converter.close()
	store, end := c.config.Catalog.Detached(definition.storage.resource())
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watcher, err := store.Watch(ctx, registry.ListRequest{SendInitialEvents: new(false)})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for round := 0; ; round++ {
		page, err := store.List(ctx, registry.ListRequest{Limit: 1})
		if err != nil || len(page.Entries) == 0 {
			return err
		}
		switch round {
		case 0:
			err = c.deleteObjectsAt(ctx, store, crd, page.Revision)
		case 1: // the objects that are left have finalizers
			err = c.updateStatus(ctx, crd, setDeletionInProgress)
		default:
			err = awaitDeletion(watcher.Events())
		}
		if err != nil {
			return err
		}
	}
}

// deleteObjectsAt deletes the objects that existed at a revision, if the definition still exists
// after it. If not, another server has deleted them, and these may be objects of a new definition
// of the same name: errReplaced.
func (c *Controller) deleteObjectsAt(ctx context.Context, objects registry.Interface, crd *apiextensionsv1.CustomResourceDefinition, revision int64) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	current, err := registry.Read[*apiextensionsv1.CustomResourceDefinition](ctx, store, "", crd.Name, "")
	if err != nil {
		return err
	}
	if current.UID != crd.UID {
		return errReplaced
	}
	_, err = objects.DeleteCollection(ctx, registry.DeleteRequest{Options: &metav1.DeleteOptions{}}, registry.ListRequest{
		ResourceVersion: versioner.Format(revision), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	return err
}

func setDeletionInProgress(crd *apiextensionsv1.CustomResourceDefinition) {
	apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
		Reason: "InstanceDeletionInProgress", Message: "CustomResource deletion is in progress",
	})
}

var (
	errWatchEnded = errors.New("the watch has ended")
	errReplaced   = errors.New("another definition has the same name")
)

// awaitDeletion returns after the next deletion of an object.
func awaitDeletion(events <-chan storage.Event) error {
	for event := range events {
		switch event.Type {
		case watch.Deleted:
			return nil
		case watch.Error:
			return event.Err
		}
	}
	return errWatchEnded
}

// updateStatus applies an edit of the status and the finalizers to the latest state of a
// definition, if it still exists.
func (c *Controller) updateStatus(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, edit func(*apiextensionsv1.CustomResourceDefinition)) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	_, err = store.Update(ctx, registry.UpdateRequest{
		Name: crd.Name, Subresource: "status", UID: crd.UID,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.(*apiextensionsv1.CustomResourceDefinition).DeepCopy()
			edit(next)
			return next, nil
		},
		Options: registry.WriteOptions{FieldManager: fieldManager},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // the UID differs
		return nil
	}
	return err
}
