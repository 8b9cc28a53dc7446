// Package etcd implements [storage.Interface] over an etcd client. The store behaves the same with
// the in-process client of an embedded etcd and with a gRPC client of a cluster. Only the cost of
// a read differs, see Config.LocalReads.
//
// A [Backend] has the shared parts of all resources: the client, the prefix, the transformer, the
// pool of leases. [Backend.Store] combines it with the codec of one resource. A [Compactor]
// periodically compacts old history. [AtMostOnce] is a dial option for the gRPC client of a
// cluster.
//
// Every write is one transaction guarded by the ModRevision of its key:
//
//	create  if ModRevision(key) = 0 then put
//	update  if ModRevision(key) = N then put    else get
//	delete  if ModRevision(key) = N then delete else get
//
// so no write overwrites a value that its caller has not seen. After a lost race the next attempt
// starts from the value that the else branch returned, without another round trip. A second
// comparison, with the fence, makes it possible to resolve a write that was sent but not answered:
// see fence.go and outcome.go.
//
// Deletions are updates whose proposal deletes (delete.go). Only objects that cannot be decoded
// have a deletion of their own (delete_corrupt.go).
//
// The layout in etcd (keys, compact_rev_key, leases) is the one of kube-apiserver, and the
// semantics are those of the etcd3 store of k8s.io/apiserver. A value is decoded at the first use
// of the object of its entry.
//
// errors.go translates errors of etcd to errors of package storage.
package etcd
