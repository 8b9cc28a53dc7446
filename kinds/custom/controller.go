package custom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

const (
	// retryAfter is how long to wait before a failure is tried again.
	retryAfter = 100 * time.Millisecond
	// retryCleanupAfter is the same for deletions, which somebody may refuse for
	// long.
	retryCleanupAfter = time.Second
	// settleTimeout is how long somebody waits for definitions at most.
	settleTimeout = 5 * time.Second
	// manager is who writes the status of definitions.
	manager = "kube-apiserver"
)

// Config is what a Controller is made of. The catalog must have the resource of
// CustomResourceDefinitions when the controller runs.
type Config struct {
	Catalog *registry.Catalog
	// Logger takes what operators should know. Nil discards it.
	Logger *slog.Logger
}

// Controller serves what CustomResourceDefinitions define. Several may run on
// one store: they come to the same results.
type Controller struct {
	config     Config
	converters converters

	mu sync.Mutex // guards what follows
	// known are the definitions that have been seen, by name.
	known map[string]*known
	// changed is closed when known has changed.
	changed chan struct{}
}

// known is what has become of a definition.
type known struct {
	crd *apiextensionsv1.CustomResourceDefinition
	// revision of it that was seen last.
	revision int64
	// resources of it that are in the catalog.
	resources []*registry.Resource
	// cleaning: its objects are being deleted.
	cleaning bool
}

// NewController returns a controller. It starts nothing.
func NewController(config Config) *Controller {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Controller{config: config, known: map[string]*known{}, changed: make(chan struct{})}
}

// Run follows the definitions until ctx ends, which is no error.
func (c *Controller) Run(ctx context.Context) error {
	ctx = registry.WithUser(ctx, &authenticationv1.UserInfo{Username: "system:apiserver", Groups: []string{"system:masters"}})
	var cleanups sync.WaitGroup
	defer cleanups.Wait()
	for ctx.Err() == nil {
		err := c.follow(ctx, &cleanups)
		if ctx.Err() != nil {
			break
		}
		c.config.Logger.WarnContext(ctx, "custom resources: definitions are read anew", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
	return nil
}

// Settle returns when everything that was defined before the call is served, or
// ctx ends.
func (c *Controller) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	store, err := c.store()
	if err != nil {
		return
	}
	page, err := store.List(ctx, registry.ListRequest{})
	if err != nil {
		return
	}
	for {
		c.mu.Lock()
		changed := c.changed
		lags := slices.ContainsFunc(page.Entries, c.lags)
		c.mu.Unlock()
		if !lags {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// lags is called with mu held.
func (c *Controller) lags(entry *storage.Entry) bool {
	k := c.known[path.Base(entry.Key)]
	return k == nil || k.revision < entry.Revision
}

func (c *Controller) store() (*registry.Store, error) {
	store, ok := c.config.Catalog.Snapshot().Store(apiextensionsv1.Resource("customresourcedefinitions"))
	if !ok {
		return nil, errors.New("the catalog has no CustomResourceDefinitions")
	}
	return store, nil
}

// follow returns why it cannot go on.
func (c *Controller) follow(ctx context.Context, cleanups *sync.WaitGroup) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	watcher, err := store.Watch(ctx, registry.ListRequest{SendInitialEvents: new(true), AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	f := follower{Controller: c, store: store, cleanups: cleanups, initial: map[string]bool{}}
	for event := range watcher.Events() {
		if err := f.take(ctx, event); err != nil {
			return err
		}
	}
	return errWatchEnded
}

// follower is one watch of the definitions.
type follower struct {
	*Controller
	store    *registry.Store
	cleanups *sync.WaitGroup
	// initial are the names that were there at the beginning; nil afterwards.
	initial map[string]bool
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
	obj, err := event.Entry.Object()
	if err != nil {
		f.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be read", "name", name, "error", err)
		err = f.forget(ctx, name)
		f.note(unreadable(name), event.Revision, nil)
		return err
	}
	return f.reconcile(ctx, obj.(*apiextensionsv1.CustomResourceDefinition), event.Revision)
}

// unreadable stands for a definition that defines nothing.
func unreadable(name string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
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
func (f *follower) reconcile(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, revision int64) error {
	settled := crd.DeepCopy()
	settle(settled, f.taken(crd))
	resources := f.serve(ctx, settled)
	var err error
	if !equality.Semantic.DeepEqual(crd.Status, settled.Status) {
		err = f.writeStatus(ctx, settled)
	}
	f.note(settled, revision, resources)
	if err != nil {
		return err
	}
	if crd.DeletionTimestamp != nil {
		f.beginCleanup(ctx, settled)
	}
	if !equality.Semantic.DeepEqual(crd.Status.AcceptedNames, settled.Status.AcceptedNames) {
		return f.reconsider(ctx, crd)
	}
	return nil
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
func (f *follower) serve(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) []*registry.Resource {
	f.mu.Lock()
	before := f.known[crd.Name]
	f.mu.Unlock()
	var old, next []*registry.Resource
	if before != nil {
		old = before.resources
		if looksTheSame(before.crd, crd) {
			return old
		}
	}
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		next = newDefinition(crd, f.converters).resources()
	}
	if err := f.config.Catalog.Replace(old, next); err != nil {
		f.config.Logger.ErrorContext(ctx, "custom resources: a definition cannot be served", "name", crd.Name, "error", err)
		return old
	}
	return next
}

func looksTheSame(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	established := func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	}
	return a.UID == b.UID && established(a) == established(b) && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// note tells those who wait how far the controller is.
func (f *follower) note(crd *apiextensionsv1.CustomResourceDefinition, revision int64, resources []*registry.Resource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[crd.Name]
	if k == nil {
		k = &known{}
		f.known[crd.Name] = k
	}
	k.crd, k.revision, k.resources = crd, revision, resources
	close(f.changed)
	f.changed = make(chan struct{})
}

// writeStatus writes the status of the very state that was looked at. If there is
// another one by now, that comes next.
func (f *follower) writeStatus(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	_, err := f.store.Update(ctx, registry.UpdateRequest{
		Name: crd.Name, Subresource: "status", UID: crd.UID,
		Propose: func(context.Context, runtime.Object) (runtime.Object, error) { return crd, nil },
		Options: registry.WriteOptions{FieldManager: manager},
	})
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of %s: %w", crd.Name, err)
	}
	return nil
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
	if err := f.config.Catalog.Replace(k.resources, nil); err != nil {
		return err
	}
	return f.reconsider(ctx, k.crd)
}

// reconsider looks again at the other definitions of a group: a name may be free
// now.
func (f *follower) reconsider(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	var others []*known
	f.mu.Lock()
	for name, k := range f.known {
		waits := !equality.Semantic.DeepEqual(k.crd.Spec.Names, k.crd.Status.AcceptedNames)
		if waits && name != crd.Name && k.crd.Spec.Group == crd.Spec.Group {
			others = append(others, k)
		}
	}
	f.mu.Unlock()
	for _, k := range others {
		if err := f.reconcile(ctx, k.crd, k.revision); err != nil {
			return err
		}
	}
	return nil
}
