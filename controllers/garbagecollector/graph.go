package garbagecollector

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/registry"
)

// graph holds the owner references of all objects. Its methods are safe for concurrent use. Methods
// that change it return the keys of the objects to reconcile.
type graph struct {
	catalog *registry.Catalog

	mu    sync.Mutex // guards all below
	nodes map[string]*node
	// dependents holds the nodes with a reference to an owner, by the key of the owner.
	dependents map[string]map[*node]struct{}
	// unresolved holds the nodes with an unknown kind, their own or the kind of an owner.
	unresolved map[*node]struct{}
}

// node is an object with owner references, or one whose deletion waits for the collector.
type node struct {
	key    string
	uid    types.UID
	refs   []metav1.OwnerReference
	owners []string // the keys of the owners, "" for an invalid or unresolved one
	// foreground is set while the object waits for the deletion of its dependents, and orphan while
	// it waits until they are released.
	foreground, orphan bool
	// deletedOwners are the UIDs of the references to keys that were deleted since. They are
	// dangling for ever, also if the kind of the owner is deleted too.
	deletedOwners []types.UID
}

// newGraph returns an empty graph, which resolves kinds by a catalog.
func newGraph(catalog *registry.Catalog) *graph {
	return &graph{
		catalog: catalog,
		nodes:   map[string]*node{}, dependents: map[string]map[*node]struct{}{}, unresolved: map[*node]struct{}{},
	}
}

func newNode(key string, metadata reconcile.Metadata) *node {
	return &node{
		key: key, uid: metadata.UID, refs: metadata.OwnerReferences,
		foreground: metadata.Deleting && metadata.HasFinalizer(metav1.FinalizerDeleteDependents),
		orphan:     metadata.Deleting && metadata.HasFinalizer(metav1.FinalizerOrphanDependents),
	}
}

func (n *node) isRelevant() bool { return len(n.refs) > 0 || n.foreground || n.orphan }

// put sets the state of an object.
func (g *graph) put(n *node) (changed []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.nodes[n.key]
	if old == nil && !n.isRelevant() {
		return nil
	}
	if old != nil {
		g.detach(old)
		n.deletedOwners = old.deletedOwners
	}
	if n.isRelevant() {
		g.attach(n, g.catalog.Snapshot())
	}
	if old != nil {
		changed = g.waitingOwners(old, n)
	}
	if n.foreground || n.orphan || len(n.refs) > 0 && (old == nil || !equality.Semantic.DeepEqual(old.refs, n.refs)) {
		changed = append(changed, n.key)
	}
	if n.foreground && (old == nil || !old.foreground) {
		changed = append(changed, g.dependentKeys(n.key)...)
	}
	return changed
}

// remove removes an object.
func (g *graph) remove(key string) (changed []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if old := g.nodes[key]; old != nil {
		g.detach(old)
		changed = g.waitingOwners(old, nil)
	}
	for dependent := range g.dependents[key] {
		dependent.loseOwner(key)
	}
	return append(changed, g.dependentKeys(key)...)
}

func (n *node) loseOwner(key string) {
	for i, owner := range n.owners {
		if owner == key && !slices.Contains(n.deletedOwners, n.refs[i].UID) {
			n.deletedOwners = append(slices.Clip(n.deletedOwners), n.refs[i].UID)
		}
	}
}

// waitingOwners returns the owners of old that wait for its deletion, and that now does not block
// any more. The caller holds mu.
func (g *graph) waitingOwners(old, now *node) (keys []string) {
	for i, owner := range old.owners {
		if waiting := g.nodes[owner]; waiting == nil || !waiting.foreground {
			continue
		}
		if now == nil || isBlocking(old.refs[i]) && !now.blocks(old.refs[i].UID) {
			keys = append(keys, owner)
		}
	}
	return keys
}

func isBlocking(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// blocks reports whether the deletion of an owner waits for the deletion of the node.
func (n *node) blocks(owner types.UID) bool {
	return slices.ContainsFunc(n.refs, func(ref metav1.OwnerReference) bool { return ref.UID == owner && isBlocking(ref) })
}

// attach adds a node. The caller holds mu.
func (g *graph) attach(n *node, snapshot *registry.Snapshot) {
	g.nodes[n.key] = n
	resolved := n.resolve(snapshot)
	for _, owner := range n.owners {
		if owner == "" {
			continue
		}
		if g.dependents[owner] == nil {
			g.dependents[owner] = map[*node]struct{}{}
		}
		g.dependents[owner][n] = struct{}{}
	}
	if !resolved {
		g.unresolved[n] = struct{}{}
	}
}

// detach removes a node. The caller holds mu.
func (g *graph) detach(n *node) {
	delete(g.nodes, n.key)
	delete(g.unresolved, n)
	for _, owner := range n.owners {
		delete(g.dependents[owner], n)
		if len(g.dependents[owner]) == 0 {
			delete(g.dependents, owner)
		}
	}
}

// resolve sets the keys of the owners. It returns false if a kind is unknown.
func (n *node) resolve(snapshot *registry.Snapshot) bool {
	n.owners = make([]string, len(n.refs))
	location, resolved := snapshot.Locate(n.key)
	if !resolved {
		return false
	}
	for i, ref := range n.refs {
		owner, err := locateOwner(snapshot, location, ref)
		if err == errUnknownKind {
			resolved = false
		}
		if err == nil {
			n.owners[i], _ = owner.Store.Key(owner.Namespace, owner.Name) // "" for an invalid name
		}
	}
	return resolved
}

// resolve resolves the kinds that were unknown.
func (g *graph) resolve() (changed []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	snapshot := g.catalog.Snapshot()
	for n := range maps.Clone(g.unresolved) {
		g.detach(n)
		g.attach(n, snapshot)
		if _, unresolved := g.unresolved[n]; !unresolved {
			changed = append(changed, n.key)
		}
	}
	return changed
}

// suspend keeps an object until the catalog changes, because a kind is unknown.
func (g *graph) suspend(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[key]; n != nil {
		g.unresolved[n] = struct{}{}
	}
}

// dependentKeys requires mu.
func (g *graph) dependentKeys(owner string) []string {
	keys := make([]string, 0, len(g.dependents[owner]))
	for n := range g.dependents[owner] {
		keys = append(keys, n.key)
	}
	return keys
}

// dependent is a node that refers to an owner.
type dependent struct {
	key                  string
	uid                  types.UID
	blocking, foreground bool
}

// dependentsOf returns the objects that refer to an owner, until visit returns false.
func (g *graph) dependentsOf(key string, owner types.UID, visit func(dependent) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n := range g.dependents[key] {
		refers := slices.ContainsFunc(n.refs, func(ref metav1.OwnerReference) bool { return ref.UID == owner })
		if refers && !visit(dependent{key: n.key, uid: n.uid, blocking: n.blocks(owner), foreground: n.foreground}) {
			return
		}
	}
}

// lookup returns the UIDs of the owners of an object that were deleted, and whether the graph has a
// node for the object.
func (g *graph) lookup(key string) (deletedOwners []types.UID, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[key]
	if n == nil {
		return nil, false
	}
	return n.deletedOwners, true
}
