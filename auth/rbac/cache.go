package rbac

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry/informer"
)

// resources are the resources of RBAC in the order in which they are read: bindings first, so that
// the role of a binding is never older than the binding.
var resources = [...]string{"clusterrolebindings", "rolebindings", "clusterroles", "roles"}

// cache builds policies from the stored roles and bindings. It is safe for concurrent use.
type cache struct {
	logger    *slog.Logger
	informers [len(resources)]*informer.Informer // in the order of resources

	mu sync.Mutex // guards the fields below
	// policy was built from the informers at these generations.
	policy      *policy
	generations [len(resources)]uint64
}

func newCache(config Config) *cache {
	c := &cache{logger: config.Logger}
	for i, resource := range resources {
		c.informers[i] = informer.New(informer.Config{
			Resource: rbacv1.Resource(resource), Lookup: config.Store, Logger: config.Logger,
		})
	}
	return c
}

// run keeps the informers up to date until ctx ends.
func (c *cache) run(ctx context.Context) error {
	var runners []informer.Runner
	for _, inf := range c.informers {
		runners = append(runners, inf)
	}
	return informer.RunAll(ctx, runners...)
}

// current returns the policy of the last known roles and bindings without a read.
func (c *cache) current() *policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policy == nil || c.isOutdated() {
		c.policy = c.build()
	}
	return c.policy
}

// isOutdated is called with mu held.
func (c *cache) isOutdated() bool {
	for i, inf := range c.informers {
		if inf.Generation() != c.generations[i] {
			return true
		}
	}
	return false
}

// refresh reads all changes up to the current revision and returns the policy. Without a change
// that is the policy which current returns.
func (c *cache) refresh(ctx context.Context) (*policy, error) {
	for i, inf := range c.informers {
		if err := inf.Sync(ctx); err != nil {
			return nil, fmt.Errorf("read %s: %w", resources[i], err)
		}
	}
	return c.current(), nil
}

// build is called with mu held. An object that cannot be decoded grants nothing.
func (c *cache) build() *policy {
	p := &policy{
		roles:    map[string]*rbacv1.Role{},
		bindings: map[string][]*rbacv1.RoleBinding{},
	}
	stored := map[string]*rbacv1.ClusterRole{}
	for i, inf := range c.informers {
		entries, generation := inf.List()
		c.generations[i] = generation
		for _, entry := range entries {
			obj, err := entry.Object()
			if err != nil {
				c.logger.Error("rbac: a role or binding cannot be decoded", "key", entry.Key, "error", err)
				continue
			}
			p.add(obj, stored)
		}
	}
	p.clusterRoles = resolveAggregation(stored)
	return p
}

// add adds a role or binding to the policy, and a ClusterRole to clusterRoles.
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
