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
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// beginCleanup deletes the objects of a definition that is being deleted, beside
// everything else that happens, unless somebody does already.
func (f *follower) beginCleanup(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	f.mu.Lock()
	k := f.known[crd.Name]
	begun := k.cleaning
	k.cleaning = true
	f.mu.Unlock()
	if begun {
		return
	}
	f.cleanups.Go(func() {
		for ctx.Err() == nil {
			err := f.cleanUp(ctx, crd)
			if err == nil || ctx.Err() != nil {
				break
			}
			f.config.Logger.WarnContext(ctx, "custom resources: objects of a definition cannot be deleted", "name", crd.Name, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryRefusedAfter):
			}
		}
	})
}

// cleanUp deletes the objects, waits until they are gone, and lets the definition
// go.
func (f *follower) cleanUp(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	done := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionFalse,
		Reason: "NeverEstablished", Message: "resource was never established",
	}
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		err := f.deleteObjects(ctx, crd)
		if errors.Is(err, errReplaced) || apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		done.Reason, done.Message = "InstanceDeletionCompleted", "removed all instances"
	}
	return f.change(ctx, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		apihelpers.SetCRDCondition(crd, done)
		apihelpers.CRDRemoveFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
	})
}

// deleteObjects returns when there are no objects any more.
func (f *follower) deleteObjects(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	definition := newDefinition(crd, f.webhooks)
	defer definition.converter.close()
	store, end := f.config.Catalog.Detached(definition.storage.resource())
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
			err = f.deleteAt(ctx, store, crd, page.Revision)
		case 1: // finalizers keep what is left
			err = f.change(ctx, crd, tellProgress)
		default:
			err = awaitDeletion(watcher.Events())
		}
		if err != nil {
			return err
		}
	}
}

// deleteAt deletes the objects that there were at a revision, if the definition
// has outlived that. If not, another server has done it, and they may be those of
// a new definition of the name.
func (f *follower) deleteAt(ctx context.Context, objects *registry.Store, crd *apiextensionsv1.CustomResourceDefinition, revision int64) error {
	current, err := registry.Read[*apiextensionsv1.CustomResourceDefinition](ctx, f.store, "", crd.Name, "")
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

func tellProgress(crd *apiextensionsv1.CustomResourceDefinition) {
	apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
		Reason: "InstanceDeletionInProgress", Message: "CustomResource deletion is in progress",
	})
}

var (
	errWatchEnded = errors.New("the watch ended")
	errReplaced   = errors.New("there is another definition of that name")
)

// awaitDeletion returns when an object is gone.
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

// change writes to the status and the finalizers of a definition, whatever its
// latest state is. One that is gone needs no change.
func (f *follower) change(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, edit func(*apiextensionsv1.CustomResourceDefinition)) error {
	_, err := f.store.Update(ctx, registry.UpdateRequest{
		Name: crd.Name, Subresource: "status", UID: crd.UID,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			next := current.(*apiextensionsv1.CustomResourceDefinition).DeepCopy()
			edit(next)
			return next, nil
		},
		Options: registry.WriteOptions{FieldManager: manager},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // gone, or another one of its name
		return nil
	}
	return err
}
