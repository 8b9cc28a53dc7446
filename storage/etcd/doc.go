// Package etcd implements [storage.Interface] over an etcd client. Whether the
// client is the in-process one of an embedded etcd or speaks gRPC to a cluster
// makes no difference to what the store does, only to what a read costs: see
// Config.LocalReads.
//
// A [Backend] holds what all resources share: the client, the prefix, the
// transformer, the pool of leases. [Backend.Store] joins it with the codec of
// one resource. A [Compactor] drops old history from time to time. [AtMostOnce]
// is for whoever dials a cluster.
//
// Every write is one transaction guarded by the ModRevision of its key:
//
//	create  if ModRevision(key) = 0 then put
//	update  if ModRevision(key) = N then put    else get
//	delete  if ModRevision(key) = N then delete else get
//
// so nothing is ever overwritten unseen, and a lost race goes on from the value
// which the else branch returned, without another round trip. A second comparison,
// with the fence, is what lets a write be resolved that was sent and not answered:
// see fence.go and outcome.go.
//
// The layout in etcd (keys, compact_rev_key, leases) is that of kube-apiserver,
// and so are the semantics, which are those of k8s.io/apiserver's etcd3 store.
// Values are decoded when somebody asks an entry for its object, and not before.
//
// errors.go is the one place where errors of etcd become those of package
// storage.
package etcd
