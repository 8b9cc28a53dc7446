package crd

import (
	"context"
	"fmt"
	"path"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// known is what has become of a definition.
type known struct {
	crd *apiextensionsv1.CustomResourceDefinition
	// served is what is in the catalog of it.
	served served
	// written is the resourceVersion of the status that was written last, until
	// its event comes: that says nothing new.
	written string
	// cleaning: its objects are being deleted.
	cleaning bool
}

// served is a definition and its resources; nothing for one that is not served.
type served struct {
	definition *definition
	resources  []*registry.Resource
}

func (s served) end() {
	if s.definition != nil {
		s.definition.converter.close()
	}
}

// follower is one watch of the definitions.
type follower struct {
	*Controller
	store    *registry.Store
	cleanups *sync.WaitGroup
	// initial are the names that were there at the beginning; nil afterwards.
	initial map[string]bool
	// unwritten is why a status could not be written. Others do not wait for it:
	// all definitions are read anew when retry fires.
	unwritten error
	retry     <-chan time.Time
}

func (f *follower) take(ctx context.Context, event storage.Event) error {
	switch {
	case event.Type == watch.Error:
		return event.Err
	case event.Type == watch.Bookmark:
		if event.InitialEventsEnd {
			return f.endInitial(ctx)
		}
		return nil
	}
	name := path.Base(event.Entry.Key)
	if event.Type == watch.Deleted {
		return f.forget(ctx, name)
	}
	if f.initial != nil {
		f.initial[name] = true
	}
	if f.wrote(name, event.Entry.Revision) {
		return nil
	}
	obj, err := event.Entry.Object()
	if err != nil {
		f.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be read", "name", name, "error", err)
		return f.forget(ctx, name)
	}
	return f.reconcile(ctx, obj.(*apiextensionsv1.CustomResourceDefinition))
}

// endInitial forgets what went while nobody watched.
func (f *follower) endInitial(ctx context.Context) error {
	var gone []string
	f.mu.Lock()
	for name := range f.known {
		if !f.initial[name] {
			gone = append(gone, name)
		}
	}
	f.mu.Unlock()
	f.initial = nil
	for _, name := range gone {
		if err := f.forget(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// reconcile does what a definition asks for.
func (f *follower) reconcile(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	settled := withOwnStatus(crd)
	settle(settled, f.taken(crd))
	served, err := f.serve(settled)
	if err != nil {
		f.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be served", "name", crd.Name, "error", err)
	}
	written := ""
	if !equality.Semantic.DeepEqual(crd.Status, settled.Status) {
		if written, err = f.writeStatus(ctx, settled); err != nil {
			f.unwritten, f.retry = err, time.After(retryRefusedAfter)
		}
	}
	f.note(settled, served, written)
	if crd.DeletionTimestamp != nil {
		f.beginCleanup(ctx, settled)
	}
	if !equality.Semantic.DeepEqual(crd.Status.AcceptedNames, settled.Status.AcceptedNames) {
		return f.reconsider(ctx, crd)
	}
	return nil
}

// withOwnStatus returns a copy that shares everything but the status: schemas are
// large.
func withOwnStatus(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	copied := *crd
	copied.Status = *crd.Status.DeepCopy()
	return &copied
}

// taken are the names that other definitions of the group hold.
func (f *follower) taken(crd *apiextensionsv1.CustomResourceDefinition) *takenNames {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := &takenNames{}
	for name, k := range f.known {
		if name != crd.Name && k.crd.Spec.Group == crd.Spec.Group {
			taken.add(k.crd.Status.AcceptedNames)
		}
	}
	return taken
}

// serve puts what a definition defines into the catalog, unless it is there.
func (f *follower) serve(crd *apiextensionsv1.CustomResourceDefinition) (served, error) {
	f.mu.Lock()
	before := f.known[crd.Name]
	f.mu.Unlock()
	var old, next served
	if before != nil {
		old = before.served
		if looksTheSame(before.crd, crd) {
			crd.Spec = before.crd.Spec // what is served keeps that one
			return old, nil
		}
	}
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		next.definition = newDefinition(crd, f.webhooks)
		next.resources = next.definition.resources()
	}
	if err := f.config.Catalog.Replace(old.resources, next.resources); err != nil {
		return old, err
	}
	old.end()
	return next, nil
}

func looksTheSame(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	established := func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	}
	return a.UID == b.UID && established(a) == established(b) && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// note remembers what has become of a definition.
func (f *follower) note(crd *apiextensionsv1.CustomResourceDefinition, served served, written string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[crd.Name]
	if k == nil || k.crd.UID != crd.UID {
		k = &known{}
		f.known[crd.Name] = k
	}
	k.crd, k.served, k.written = crd, served, written
}

// wrote tells whether a revision is the status that the follower wrote itself.
func (f *follower) wrote(name string, revision int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[name]
	if k == nil || k.written != versioner.Format(revision) {
		return false
	}
	k.written = ""
	return true
}

// writeStatus writes the status of the very state that was looked at, notes in it
// what the write changed, and returns the new version. If there is another state
// by now, that comes next.
func (f *follower) writeStatus(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	result, err := f.store.Update(ctx, registry.UpdateRequest{
		Name: crd.Name, Subresource: "status", UID: crd.UID,
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return crd, nil },
		Options: registry.WriteOptions{FieldManager: manager},
	})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("write the status of %s: %w", crd.Name, err)
	}
	written, err := registry.As[*apiextensionsv1.CustomResourceDefinition](result.Entry)
	if err != nil {
		return "", err
	}
	crd.ObjectMeta = written.ObjectMeta
	return crd.ResourceVersion, nil
}

// forget takes what a definition defined out of the catalog.
func (f *follower) forget(ctx context.Context, name string) error {
	f.mu.Lock()
	k := f.known[name]
	delete(f.known, name)
	f.mu.Unlock()
	if k == nil {
		return nil
	}
	if err := f.config.Catalog.Replace(k.served.resources, nil); err != nil {
		return err
	}
	k.served.end()
	return f.reconsider(ctx, k.crd)
}

// reconsider looks again at the other definitions of a group: a name may be free
// now.
func (f *follower) reconsider(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	var others []*known
	f.mu.Lock()
	for name, k := range f.known {
		if name != crd.Name && k.crd.Spec.Group == crd.Spec.Group && !apihelpers.IsCRDConditionTrue(k.crd, apiextensionsv1.NamesAccepted) {
			others = append(others, k)
		}
	}
	f.mu.Unlock()
	for _, k := range others {
		if err := f.reconcile(ctx, k.crd); err != nil {
			return err
		}
	}
	return nil
}
