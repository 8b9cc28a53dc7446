// Package garbagecollector deletes objects whose owners are gone, as kube-controller-manager's
// garbage collector does, and completes foreground and orphaning deletions.
//
// The graph has a node for each object with owner references, and for each object whose deletion
// waits for the collector. It does not contain other objects: the dependents of an owner are found
// by the owner's key in the storage, so the deletion of an object without dependents costs one
// lookup.
//
// The graph only selects the objects to look at. Each decision is made on the latest state of the
// object and of its owners, and a deletion has the UID and the resourceVersion of that state as
// preconditions. The dependents of an object are read from the graph, once it is not older than the
// object. An object with an owner of an unknown kind is kept until the catalog serves the kind.
package garbagecollector
