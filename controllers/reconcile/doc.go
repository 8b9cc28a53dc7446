// Package reconcile has the parts that all controllers share: the [Queue] of the keys to reconcile,
// the service account of a controller, the [Metadata] of stored objects, and the [Recorder] of
// Events.
//
// A controller is a [Controller]: Handle receives every change of every stored object and adds keys
// to queues, and Run processes the queues. It writes through the registry, in a context of [As], so
// that admission, webhooks and managedFields see the service account and the field manager of
// kube-controller-manager.
//
// Most controllers reconcile the objects of one resource: they are a [Spec], which [New] turns into
// a Controller, and read and write through [Objects].
package reconcile
