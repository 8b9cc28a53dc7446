// Package versioner converts between etcd revisions and resourceVersions.
//
// There are two kinds of resourceVersion, and only etcd assigns them:
//
//   - the resourceVersion of an object is the ModRevision of its key, the
//     revision of its last write;
//   - the resourceVersion of a list or of a watch bookmark is the revision of
//     the store at the read, which includes all writes up to it.
//
// Neither is stored inside a value. [Versioner.PrepareObjectForStorage] removes
// the resourceVersion before an object is encoded, and [Versioner.UpdateObject]
// sets it after an object was decoded.
//
// Clients may compare resourceVersions for equality and, since Kubernetes 1.35,
// for order within one resource. Because a resourceVersion is a revision of etcd,
// `kubectl get -o yaml` and `etcdctl get` show the same number.
//
// [APIObjectVersioner] is the only implementation. It supports typed and
// unstructured objects that have an ObjectMeta or a ListMeta. It is stateless and
// safe for concurrent use.
package versioner
