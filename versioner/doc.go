// Package versioner turns etcd's numbers into resource versions and back.
//
// Two numbers exist, and nothing but etcd hands them out:
//
//   - the resourceVersion of an object is the ModRevision of its key, the
//     revision of its last write;
//   - the resourceVersion of a list or of a watch bookmark is the revision of
//     the store at which it was read: everything up to it has been seen.
//
// Neither is ever stored inside a value. [Versioner.PrepareObjectForStorage]
// strips the number before an object is encoded, and [Versioner.UpdateObject]
// stamps it after an object was decoded.
//
// Clients must treat a resourceVersion as opaque but for equality, and since
// Kubernetes 1.35 for order within one resource; that it is a revision of etcd
// is nevertheless what makes `kubectl get -o yaml` and `etcdctl get` agree.
//
// [APIObjectVersioner] is the one implementation: it serves everything with an
// ObjectMeta or a ListMeta, typed or unstructured. It is stateless and safe for
// concurrent use.
package versioner
