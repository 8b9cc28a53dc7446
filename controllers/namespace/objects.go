package namespace

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

const (
	// pageSize is the number of objects that are read at once.
	pageSize = 500
	// parallelDeletions is the number of objects of a page that are deleted at the same time. With
	// a data directory one sync of the disk then serves several deletions.
	parallelDeletions = 8
)

// latest is the revision of a continue token that continues a list at the latest revision.
const latest = -1

// eachPage calls visit with the objects of a resource in a namespace, page by page. Each page is
// read in the latest state.
func eachPage(ctx context.Context, store *registry.Store, namespace string, visit func([]*storage.Entry) error) error {
	req := registry.ListRequest{Namespace: namespace, Limit: pageSize, IncludeCorrupt: true}
	for {
		page, err := store.List(ctx, req)
		if err != nil {
			return err
		}
		if len(page.Entries) == 0 {
			return nil
		}
		if err := visit(page.Entries); err != nil || page.Continue == "" {
			return err
		}
		last := page.Entries[len(page.Entries)-1].Key
		root := last[:strings.LastIndexByte(last, '/')+1]
		if req.Continue, err = storage.EncodeContinue(last, root, latest); err != nil {
			return err
		}
	}
}

// deleteObjects deletes the objects of a resource in a namespace. It ends with the first error.
func deleteObjects(ctx context.Context, store *registry.Store, namespace string) error {
	return eachPage(ctx, store, namespace, func(entries []*storage.Entry) error {
		return deletePage(ctx, store, namespace, entries)
	})
}

func deletePage(ctx context.Context, store *registry.Store, namespace string, entries []*storage.Entry) error {
	var failure firstError
	var group errgroup.Group
	group.SetLimit(parallelDeletions)
	for i, entry := range entries {
		if failure.get() != nil {
			break
		}
		group.Go(func() error {
			failure.set(i, deleteEntry(ctx, store, namespace, entry))
			return nil
		})
	}
	_ = group.Wait() // the functions return nil
	return failure.get()
}

// deleteEntry deletes an object, unless it is being deleted or another object has replaced it.
func deleteEntry(ctx context.Context, store *registry.Store, namespace string, entry *storage.Entry) error {
	metadata, err := reconcile.ParseMetadata(entry.Data())
	var uid *types.UID
	if err == nil {
		uid = &metadata.UID
	} // Delete returns the error of an object that cannot be decoded
	policy := metav1.DeletePropagationBackground
	_, err = store.Delete(ctx, registry.DeleteRequest{
		Namespace: namespace, Name: entry.Key[strings.LastIndexByte(entry.Key, '/')+1:],
		Options: &metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: uid}},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && uid != nil {
		return nil
	}
	return err
}

// firstError is the error of the first object in the order of a page.
type firstError struct {
	mu    sync.Mutex // guards the fields below
	index int
	err   error
}

func (f *firstError) set(index int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && (f.err == nil || index < f.index) {
		f.index, f.err = index, err
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// countObjects returns the number of objects of a resource in a namespace, and the number of
// objects with each finalizer.
func countObjects(ctx context.Context, store *registry.Store, namespace string) (count int, finalizers map[string]int, err error) {
	finalizers = map[string]int{}
	err = eachPage(ctx, store, namespace, func(entries []*storage.Entry) error {
		count += len(entries)
		for _, entry := range entries {
			metadata, err := reconcile.ParseMetadata(entry.Data())
			if err != nil {
				continue // the deletion of the object has failed
			}
			for _, finalizer := range metadata.Finalizers {
				finalizers[finalizer]++
			}
		}
		return nil
	})
	return count, finalizers, err
}
