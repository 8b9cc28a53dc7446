package rbac

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// retryDelay is how long a watch that failed waits before it begins again.
const retryDelay = 100 * time.Millisecond

// cache holds the stored roles and bindings. Safe for concurrent use.
type cache struct {
	config Config

	mu     sync.Mutex // guards what follows
	tables map[string]*table
	// policy is built of the tables when it is asked for; nil after a change.
	policy *policy
}

// table is one resource.
//
// Invariant: it holds what happened up to revision, of which itself it may
// still miss some.
type table struct {
	revision int64
	// listed is the revision of the latest list that was taken. The table missed
	// nothing of it.
	listed  int64
	entries map[string]*storage.Entry
}

// resources are those of RBAC, in the order in which they are read: a binding
// that is seen has its role behind it.
var resources = [...]string{"clusterrolebindings", "rolebindings", "clusterroles", "roles"}

func newCache(config Config) *cache {
	c := &cache{config: config, tables: map[string]*table{}}
	for _, resource := range resources {
		c.tables[resource] = &table{entries: map[string]*storage.Entry{}}
	}
	return c
}

// current returns what is known now, however old.
func (c *cache) current() *policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policy == nil {
		c.policy = c.build()
	}
	return c.policy
}

// refresh reads all changes up to the current revision and returns the policy. Without a change
// that is the policy which current returns.
func (c *cache) refresh(ctx context.Context) (*policy, error) {
	for _, resource := range resources {
		if _, err := c.list(ctx, resource); err != nil {
			return nil, fmt.Errorf("read %s: %w", resource, err)
		}
	}
	return c.current(), nil
}

// list reads one resource and returns the revision up to which it is known
// then. An entry that is known already is kept, decoded as it is.
func (c *cache) list(ctx context.Context, resource string) (int64, error) {
	store, ok := c.config.Store(rbacv1.Resource(resource))
	if !ok {
		return 0, fmt.Errorf("this server has no %s", resource)
	}
	page, err := store.List(ctx, registry.ListRequest{KnownRevision: c.listed(resource)})
	if err != nil {
		return 0, err
	}
	return c.take(resource, page), nil
}

// listed returns the revision of the list that a table was last read by, 0 for none.
func (c *cache) listed(resource string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables[resource].listed
}

// take replaces what is known by a page, unless a watch was faster, and returns
// the revision up to which the resource is known now.
func (c *cache) take(resource string, page *storage.Page) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[resource]
	if page.Revision < t.revision {
		return t.revision
	}
	if !page.Unchanged && t.replace(page.Entries) {
		c.policy = nil
	}
	t.revision, t.listed = page.Revision, page.Revision
	return t.revision
}

// replace tells whether anything is different.
func (t *table) replace(entries []*storage.Entry) bool {
	changed := len(entries) != len(t.entries)
	next := make(map[string]*storage.Entry, len(entries))
	for _, entry := range entries {
		known, ok := t.entries[entry.Key]
		if ok && known.Revision == entry.Revision {
			entry = known
		} else {
			changed = true
		}
		next[entry.Key] = entry
	}
	t.entries = next
	return changed
}

// apply takes over an event, unless a list has gone beyond it. One of the
// list's own revision may come again: several keys can change in one revision.
func (c *cache) apply(resource string, event storage.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[resource]
	if event.Revision < t.revision {
		return
	}
	switch event.Type {
	case watch.Added, watch.Modified:
		t.entries[event.Entry.Key] = event.Entry
	case watch.Deleted:
		delete(t.entries, event.Entry.Key)
	default:
		return
	}
	t.revision = event.Revision
	c.policy = nil
}

// run keeps all tables up to date until ctx ends.
func (c *cache) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, resource := range resources {
		group.Go(func() error {
			for ctx.Err() == nil {
				if err := c.follow(ctx, resource); err != nil && ctx.Err() == nil {
					c.config.Logger.WarnContext(ctx, "watch of roles or bindings begins anew", "resource", resource, "error", err)
					wait(ctx, retryDelay)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func wait(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// follow reads a resource and then what happens to it, until that fails.
func (c *cache) follow(ctx context.Context, resource string) error {
	revision, err := c.list(ctx, resource)
	if err != nil {
		return err
	}
	store, ok := c.config.Store(rbacv1.Resource(resource))
	if !ok {
		return fmt.Errorf("this server has no %s", resource)
	}
	watcher, err := store.Watch(ctx, registry.ListRequest{ResourceVersion: fmt.Sprint(revision)})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.Events() {
		if event.Type == watch.Error {
			return event.Err
		}
		c.apply(resource, event)
	}
	return errors.New("the watch has ended")
}

// build is called with mu held. What cannot be decoded grants nothing.
func (c *cache) build() *policy {
	p := &policy{
		roles:    map[string]*rbacv1.Role{},
		bindings: map[string][]*rbacv1.RoleBinding{},
	}
	stored := map[string]*rbacv1.ClusterRole{}
	for _, resource := range resources {
		entries := c.tables[resource].entries
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			obj, err := entries[key].Object()
			if err != nil {
				c.config.Logger.Error("a role or binding cannot be read", slog.String("key", key), slog.Any("error", err))
				continue
			}
			p.add(obj, stored)
		}
	}
	p.clusterRoles = aggregated(stored)
	return p
}

func (p *policy) add(obj runtime.Object, clusterRoles map[string]*rbacv1.ClusterRole) {
	switch obj := obj.(type) {
	case *rbacv1.ClusterRoleBinding:
		p.clusterBindings = append(p.clusterBindings, obj)
	case *rbacv1.RoleBinding:
		p.bindings[obj.Namespace] = append(p.bindings[obj.Namespace], obj)
	case *rbacv1.ClusterRole:
		clusterRoles[obj.Name] = obj
	case *rbacv1.Role:
		p.roles[obj.Namespace+"/"+obj.Name] = obj
	}
}
